/** @file The generator of docs/api.md, as the tests call it. */
export interface Section {
  readonly title: string;
  readonly namespace?: string;
  /** The entry point that the namespace is the same as. */
  readonly same?: string;
  readonly names: readonly { readonly name: string; readonly text: string }[];
}

interface Generator {
  readonly ENTRIES: Readonly<Record<string, string>>;
  readApi(): readonly Section[];
  apiPage(sections: readonly Section[]): string;
}

const generator = (await import(new URL('../../../docs/generate-api.mjs', import.meta.url).href)) as Generator;
export const { ENTRIES, readApi, apiPage } = generator;
