/** @file Asks the engine for WebAssembly features by having it check modules of a few bytes. */

const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
/** One type, () → (), and one function of it. */
const TYPE_SECTION = [0x01, 0x04, 0x01, 0x60, 0x00, 0x00];
const FUNCTION_SECTION = [0x03, 0x02, 0x01, 0x00];
const MEMORY_SECTION = [0x05, 0x03, 0x01, 0x00, 0x01];
/** Flag 3: shared, with a maximum. */
const SHARED_MEMORY_SECTION = [0x05, 0x04, 0x01, 0x03, 0x01, 0x01];

function moduleOf(memory: readonly number[], instructions: readonly number[]): Uint8Array {
  const body = [0x00, ...instructions, 0x0b];
  const code = [0x0a, body.length + 2, 0x01, body.length, ...body];
  return Uint8Array.from([...HEADER, ...TYPE_SECTION, ...FUNCTION_SECTION, ...memory, ...code]);
}

/** What the kernels cannot do without. */
export const WASM_FEATURES = {
  /** i32.const 0; i8x16.splat; drop */
  simd: moduleOf([], [0x41, 0x00, 0xfd, 0x0f, 0x1a]),
  /** i32.const 0; i32.atomic.load; drop */
  threads: moduleOf(SHARED_MEMORY_SECTION, [0x41, 0x00, 0xfe, 0x10, 0x02, 0x00, 0x1a]),
  /** i32.const 0, three times; memory.fill */
  bulkMemory: moduleOf(MEMORY_SECTION, [0x41, 0x00, 0x41, 0x00, 0x41, 0x00, 0xfc, 0x0b, 0x00]),
} as const satisfies Record<string, Uint8Array>;

export type WasmFeature = keyof typeof WASM_FEATURES;

/** Nothing depends on it but speed. i32.const 0 and i8x16.splat, three times; f32x4.relaxed_madd; drop */
export const RELAXED_SIMD = moduleOf(
  [],
  [...[1, 2, 3].flatMap(() => [0x41, 0x00, 0xfd, 0x0f]), ...[0xfd, 0x85, 0x02], 0x1a],
);
