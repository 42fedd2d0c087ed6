/**
 * @file Registers of programs, and what `emit` takes of them for the operands of a kernel, by the names of its table.
 */
import type { Kernel, Operands } from '../kernels/kernels.js';
import type { Operand, OperandType } from '../kernels/operand.js';

declare const HOLDS: unique symbol;
/** A register by number: of an address, a count or a flag. */
export type Register = number & { readonly [HOLDS]: 'word' };
/** A register of a float's bits. */
export type FloatRegister = number & { readonly [HOLDS]: 'float' };

/** Where a matrix is and how far its rows are apart. */
export interface MatrixRegisters {
  readonly pointer: Register;
  readonly stride: Register;
}

/** A matrix whose elements, or blocks of them, are `step` apart. */
export interface SteppedRegisters extends MatrixRegisters {
  readonly step: Register;
}

/** A matrix that may be transposed. */
export interface StridedRegisters {
  readonly pointer: Register;
  readonly rowStride: Register;
  readonly columnStride: Register;
}

interface RegistersOfType {
  readonly address: Register;
  readonly matrix: MatrixRegisters;
  readonly stepped: SteppedRegisters;
  readonly strided: StridedRegisters;
  readonly count: Register;
  readonly flag: Register;
  readonly float: FloatRegister;
}

export type OperandRegisters<O extends Operands> = { readonly [K in keyof O]: RegistersOfType[O[K]['type']] };

/** `Given` with nothing but the operands of `O`: what is left over does not compile, from wherever it was spread. */
export type ExactRegisters<O extends Operands, Given extends OperandRegisters<O>> = Given &
  Readonly<Record<Exclude<keyof Given, keyof O>, never>>;

type Given = Register | FloatRegister | MatrixRegisters | SteppedRegisters | StridedRegisters;

const REGISTERS: { readonly [T in OperandType]: (given: RegistersOfType[T]) => readonly number[] } = {
  address: (register) => [register],
  matrix: ({ pointer, stride }) => [pointer, stride],
  stepped: ({ pointer, stride, step }) => [pointer, stride, step],
  strided: ({ pointer, rowStride, columnStride }) => [pointer, rowStride, columnStride],
  count: (register) => [register],
  flag: (register) => [register],
  float: (register) => [register],
};

/** The registers of a call in the order of the kernel's words. */
export function registersOf<O extends Operands>(kernel: Kernel<O>, operands: OperandRegisters<O>): number[] {
  for (const name of Object.keys(operands)) {
    if (!(name in kernel.operands)) throw new Error(`${kernel.name} has no operand ${name}`);
  }
  return Object.entries<Operand>(kernel.operands).flatMap(([name, { type }]) => {
    const given = (operands as Readonly<Record<string, Given | undefined>>)[name];
    const registers = given === undefined ? [] : (REGISTERS[type] as (given: Given) => readonly number[])(given);
    if (registers.length > 0 && registers.every((register) => register > 0)) return registers;
    throw new Error(`${kernel.name} needs its operand ${name}`);
  });
}
