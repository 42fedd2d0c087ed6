/** @file Runs any kernel and its plain twin on the same memory image, and compares all that was allocated. */
import type { Views } from '../../src/memory/views.js';
import { identical, type Same } from './both.js';
import type { KernelHarness } from './harness.js';

type Arg = number | bigint;
export type Kernel = (...args: never[]) => unknown;

/**
 * Runs `kernel` and `twin` over what was allocated since `begin`; throws with place and values on a difference in
 * memory or result. What the kernel left is in memory afterwards. `same` compares floats; the default wants equal bits.
 */
export function runPair(
  h: KernelHarness,
  begin: number,
  kernel: Kernel,
  twin: Kernel,
  args: readonly Arg[],
  same: Same = identical,
): unknown {
  const end = Math.ceil(h.arena.mark() / 4) * 4;
  const image = h.views.u8.slice(begin, end);
  const plainResult = (twin as (m: Views, ...args: Arg[]) => unknown)(h.views, ...args);
  const plain = h.views.u8.slice(begin, end);
  h.views.u8.set(image, begin);
  const result = (kernel as (...args: Arg[]) => unknown)(...args);
  const wasm = h.views.u8.slice(begin, end);
  const [left, right] = [new Float32Array(wasm.buffer), new Float32Array(plain.buffer)];
  const [leftBits, rightBits] = [new Uint32Array(wasm.buffer), new Uint32Array(plain.buffer)];
  for (let i = 0; i < left.length; i++) {
    if (leftBits[i] === rightBits[i] || same(left[i]!, right[i]!)) continue;
    const found = `wasm has ${left[i]} (${leftBits[i]}), the reference ${right[i]} (${rightBits[i]})`;
    throw new Error(`${twin.name}(${args}): at byte ${begin + i * 4} ${found}`);
  }
  // A twin of the kernel table answers 0 where the kernel has no result, as the reference program needs it.
  const found = result === undefined && plainResult === 0 ? 0 : result;
  const isSame = typeof found === 'number' ? same(found, Number(plainResult)) : found === plainResult;
  if (!isSame) throw new Error(`${twin.name}(${args}): wasm gives ${result}, the reference ${plainResult}`);
  return result;
}
