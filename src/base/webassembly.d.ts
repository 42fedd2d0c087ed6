/** @file The part of the WebAssembly JavaScript interface that is used here; Node's own types leave it to the DOM's. */
declare namespace WebAssembly {
  interface MemoryDescriptor {
    readonly initial: number;
    readonly maximum: number;
    readonly shared: true;
  }
  class Memory {
    constructor(descriptor: MemoryDescriptor);
    readonly buffer: SharedArrayBuffer;
  }
  class Module {
    constructor(bytes: Uint8Array);
    static imports(module: Module): { module: string; name: string; kind: string }[];
    static customSections(module: Module, name: string): ArrayBuffer[];
    static exports(module: Module): { name: string; kind: string }[];
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, unknown>>);
    readonly exports: Record<string, unknown>;
  }
  function compile(bytes: Uint8Array): Promise<Module>;
  function validate(bytes: Uint8Array): boolean;
  class RuntimeError extends Error {}
}
