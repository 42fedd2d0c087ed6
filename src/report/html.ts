/** @file Text of pages: `html` writes everything that is put into it as text, whatever stands in it. */

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** What no page can hold: control characters but tab and line ends. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones.
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | null | undefined | readonly Part[];

export const escapeHtml = (text: string): string =>
  text.replace(CONTROLS, '\ufffd').replace(/[&<>"']/g, (mark) => ENTITIES[mark]!);

function written(part: Part): string {
  if (part === null || part === undefined) return '';
  if (part instanceof Html) return part.text;
  return typeof part === 'object' ? part.map(written).join('') : escapeHtml(String(part));
}

/**
 * A piece of a page.
 *
 * ```ts
 * html`<td>${column.name}</td>${rows.map((row) => html`<td>${row}</td>`)}`;
 * ```
 */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(texts.map((text, index) => text + written(parts[index])).join(''));
}

/** Data in a page, which a script reads and nothing runs. */
export function jsonScript(id: string, value: unknown): Html {
  // A text that ends the element, or begins a comment, would be read as the page.
  const text = JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (mark) => {
    return `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return new Html(`<script type="application/json" id="${escapeHtml(id)}">${text}</script>`);
}
