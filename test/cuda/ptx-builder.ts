/** @file The scripts that compile cuda/kernels, as tests call them. */
export interface Assembled {
  readonly kernel: string;
  readonly registers: number;
  readonly stackBytes: number;
  readonly spillBytes: number;
  readonly sharedBytes: number;
}

export interface Builder {
  readonly ARCHITECTURES: readonly string[];
  moduleNames(): string[];
  compilerVersion(): string | null;
  sourceDigest(module: string): string;
  textDigest(text: string): string;
  compiledDigests(): Promise<{ module: string; digest: string }[]>;
  assembleAll(): Promise<{ module: string; architecture: string; kernels: Assembled[] }[]>;
  readManifest(): {
    compiler: string;
    architectures: string[];
    modules: Record<string, { source: string; ptx: string }>;
  };
  ptxPath(module: string): string;
}

interface Occupancy {
  occupancy(architecture: string, kernel: { registers: number; sharedBytes: number; threads: number }): number;
}

export const builder = (await import(new URL('../../../cuda/build-ptx.mjs', import.meta.url).href)) as Builder;
export const { occupancy } = (await import(new URL('../../../cuda/occupancy.mjs', import.meta.url).href)) as Occupancy;
