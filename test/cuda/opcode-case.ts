/** @file An instruction with what it has to answer. */
import type { Instruction } from './vector-kernel.js';

export type Value = number | bigint;
export interface OpcodeCase extends Instruction {
  readonly reference: (...operands: never[]) => Value;
  /** How an operand is read: as the register holds it, or as a signed integer. */
  readonly signed?: boolean;
  /** Operands that are not any value: a shift count, a byte selector. */
  readonly limits?: Readonly<Record<number, bigint>>;
  /** Largest relative error; 0 asks for the same bits. */
  readonly tolerance?: number;
}
