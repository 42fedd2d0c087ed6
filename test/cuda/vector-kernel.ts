/** @file Runs one PTX instruction over vectors of operands, a thread for each element. */
import type { PtxModule } from '../../src/runtime/backends/cuda/ptx-module.js';
import { type SimulatedDriver, upload } from './simulated.js';

export type Register = 'f32' | 'f64' | 'b16' | 'b32' | 'b64' | 'pred';
export type Vector = Float32Array | Float64Array | Uint16Array | Uint32Array | BigUint64Array;

/** An instruction with the registers it has: `{d}`, `{a}`, `{b}`, `{c}` and `{e}` stand for them in the text. */
export interface Instruction {
  readonly text: string;
  readonly result: Register;
  readonly operands: readonly Register[];
}

const BYTES: Readonly<Record<Register, number>> = { f32: 4, f64: 8, b16: 2, b32: 4, b64: 8, pred: 4 };
const MAKE = {
  f32: Float32Array,
  f64: Float64Array,
  b16: Uint16Array,
  b32: Uint32Array,
  b64: BigUint64Array,
  pred: Uint32Array,
};
const NAMES = ['a', 'b', 'c', 'e'];

export const PTX_HEADER = '.version 7.0\n.target sm_75\n.address_size 64\n';

function entryOf({ text, result, operands }: Instruction, index: number): string {
  const used = NAMES.slice(0, operands.length);
  const store =
    result === 'pred' ? 'selp.u32 flag, 1, 0, d;\nst.global.u32 [at], flag;' : `st.global.${result} [at], d;`;
  const lines = operands.flatMap((type, k) => [
    `ld.param.u64 base, [p${k + 1}];`,
    `mad.lo.s64 at, index, ${BYTES[type]}, base;`,
    `ld.global.${type} ${used[k]}, [at];`,
  ]);
  return [
    `.visible .entry k${index}(${['p0', ...operands.map((_, k) => `p${k + 1}`)].map((name) => `.param .u64 ${name}`)})`,
    '{',
    '.reg .b64 base, at, index;\n.reg .b32 thread, flag;',
    ...operands.map((type, k) => `.reg .${type} ${used[k]};`),
    `.reg .${result} d;`,
    'mov.u32 thread, %tid.x;\ncvt.u64.u32 index, thread;',
    ...lines,
    text.replace(/\{(\w)\}/g, '$1'),
    `ld.param.u64 base, [p0];\nmad.lo.s64 at, index, ${BYTES[result]}, base;`,
    store,
    'ret;\n}\n',
  ].join('\n');
}

/** A module with a kernel for each instruction. */
export function vectorModule(driver: SimulatedDriver, instructions: readonly Instruction[]): PtxModule {
  return driver.loadModule('vectors', PTX_HEADER + instructions.map(entryOf).join(''));
}

/** What instruction `index` of the module makes of the operands. */
export function runVector(
  driver: SimulatedDriver,
  module: PtxModule,
  index: number,
  { result }: Instruction,
  operands: readonly Vector[],
): Vector {
  const count = operands[0]!.length;
  const out = driver.alloc(count * BYTES[result]);
  const inputs = operands.map((operand) => upload(driver, operand));
  const stream = driver.stream();
  module.kernel(`k${index}`).launch(stream, { grid: 1, block: count }, [out, ...inputs]);
  const found = new MAKE[result](count);
  driver.download(found, out);
  stream.destroy();
  for (const buffer of [out, ...inputs]) buffer.free();
  return found;
}
