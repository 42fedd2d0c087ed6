/** @file What a program asks of the thread it runs on: kernels that work in other memories than its own. */
import { MonolithError } from '../../base/errors.js';

/** Runs the kernel of an opcode. */
export type HostCall = (opcode: number, ...operands: number[]) => number;

/** The call of a thread that has no other memories. */
export function refuseCall(opcode: number): number {
  throw new MonolithError('ML_WASM', { reason: `opcode ${opcode} was called on a thread without other memories` });
}
