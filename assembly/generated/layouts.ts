// What kernels share with src/memory, under the same names: byte offsets into structures, sizes in bytes, numbers.
// Written by generate-layouts.mjs: do not edit.

// src/memory/batch.ts
export namespace BATCH {
  export const rows: usize = 0;
  export const pointerCount: usize = 4;
  export const pointers: usize = 8;
}

// src/memory/control-layout.ts
export namespace CONTROL {
  export const command: usize = 0;
  export const done: usize = 4;
  export const abort: usize = 8;
  export const joined: usize = 12;
  export const spins: usize = 16;
  export const arrived: usize = 64;
  export const generation: usize = 128;
  export const commands: usize = 192;
}
export const COMMAND_CAPACITY: i32 = 64;

// src/memory/program-layout.ts
export namespace CONTEXT {
  export const stages: usize = 0;
  export const stagesEnd: usize = 4;
  export const sliceRegisters: usize = 16;
  export const sliceRegistersStride: usize = 20;
  export const sliceBegin: usize = 24;
  export const sliceEnd: usize = 28;
  export const sliceCount: usize = 32;
  export const threadRegisters: usize = 36;
  export const control: usize = 40;
  export const threads: usize = 44;
  export const trace: usize = 48;
  export const traceBarrier: usize = 52;
  export const bindings: usize = 64;
  export const failedAt: usize = 68;
  export const failedDetail: usize = 72;
  export const captures: usize = 76;
  export const traceKernels: usize = 80;
  export const placement: usize = 84;
}
export namespace STAGE {
  export const kind: usize = 0;
  export const code: usize = 4;
  export const codeEnd: usize = 8;
  export const traceName: usize = 12;
}
export namespace INSTRUCTION {
  export const head: usize = 0;
  export const traceName: usize = 4;
  export const result: usize = 8;
  export const operands: usize = 12;
}
export namespace BINDINGS {
  export const count: usize = 0;
  export const rows: usize = 4;
  export const inverseBatch: usize = 8;
  export const sliceRows: usize = 12;
  export const entries: usize = 16;
}
export namespace BINDING {
  export const kind: usize = 0;
  export const pointer: usize = 4;
  export const register: usize = 8;
  export const values: usize = 12;
  export const valueCount: usize = 16;
  export const size: usize = 20;
  export const offset: usize = 24;
  export const name: usize = 28;
}
export namespace CAPTURES {
  export const count: usize = 0;
  export const to: usize = 4;
  export const commandBytes: usize = 8;
  export const pairs: usize = 16;
}
export namespace CAPTURE {
  export const address: usize = 0;
  export const sliceBytes: usize = 4;
}
export const STAGE_BYTES: usize = 16;
export const BINDING_BYTES: usize = 32;
export const CAPTURE_BYTES: usize = 8;
export namespace STATUS {
  export const aborted: i32 = -1;
  export const batchRows: i32 = -2;
  export const batchValues: i32 = -3;
  export const kernel: i32 = -4;
}
export namespace STAGE_KIND {
  export const slices: u32 = 0;
  export const threads: u32 = 1;
}
export namespace BINDING_KIND {
  export const dense: u32 = 0;
  export const ragged: u32 = 1;
  export const fixed: u32 = 2;
  export const batchRows: u32 = 3;
}
