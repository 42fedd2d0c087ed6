/**
 * @file What an operand of a kernel is: its type, and what the kernel does to the memory it points to.
 *
 * An operand is one to three words of a call. `x: matrix.read` is the address `x` and the distance `xStride` between
 * two rows; whoever emits or calls the kernel gives both under one name, so that they cannot come apart.
 */

/** What the words of an operand are called: the name of the operand and one of these. */
export const SUFFIXES = {
  /** Where something begins. */
  address: [''],
  /** Rows of neighbouring elements: the first address, and elements from a row to the next. */
  matrix: ['', 'Stride'],
  /** A matrix whose elements, or blocks of them, are `step` apart; 0 repeats one. */
  stepped: ['', 'Stride', 'Step'],
  /** A matrix that may be transposed: elements from a row to the next, and from a column to the next. */
  strided: ['', 'RowStride', 'ColStride'],
  /** A whole number of 32 bits: how many, how far, which one. */
  count: [''],
  /** 0 or 1. */
  flag: [''],
  /** A float of 32 bits. */
  float: [''],
} as const;

export type OperandType = keyof typeof SUFFIXES;

/**
 * What a kernel does to what is at an address. A step over two memories knows by it what must be where.
 *
 * - `write`: all that it leaves is written, or added to what was there when the call has an accumulate flag;
 * - `update`: parts are changed and the rest is kept;
 * - `rows`: a list of addresses of table rows, which are read;
 * - `records`: structures that hold further addresses;
 * - `scratch`: nothing of it is read that the same call did not write; `hostScratch`: only the CPU needs it;
 * - `none`: what is there belongs to nobody's step, such as a table; and whatever is no address.
 */
export type Access = 'none' | 'read' | 'write' | 'update' | 'rows' | 'records' | 'scratch' | 'hostScratch';

/** What lies at an address; `words` are u32 of a layout of their own. */
export type Element = 'f32' | 'f64' | 'i64' | 'i32' | 'u32' | 'words';

export interface Operand<T extends OperandType = OperandType, A extends Access = Access> {
  readonly type: T;
  readonly access: A;
  readonly element: Element;
}

const operand = <T extends OperandType, A extends Access>(
  type: T,
  access: A,
  element: Element = 'f32',
): Operand<T, A> => ({ type, access, element });
const directed = <T extends OperandType>(type: T) => ({
  read: operand(type, 'read'),
  write: operand(type, 'write'),
  update: operand(type, 'update'),
});

export const { read, write, update } = directed('address');
export const matrix = directed('matrix');
export const stepped = directed('stepped');
export const strided = directed('strided');
export const rowAddresses = operand('address', 'rows', 'u32');
export const records = operand('address', 'records', 'words');
export const scratch = operand('address', 'scratch', 'words');
export const hostScratch = operand('address', 'hostScratch', 'words');
/** The address of what is no block of a step: the control block of a table, a filter. */
export const handle = operand('address', 'none', 'words');
export const count = operand('count', 'none', 'u32');
export const flag = operand('flag', 'none', 'u32');
export const float = operand('float', 'none', 'f32');

const elements =
  (element: Element) =>
  <T extends OperandType, A extends Access>(of: Operand<T, A>): Operand<T, A> => ({ ...of, element });

export const i64 = elements('i64');
export const i32 = elements('i32');
export const u32 = elements('u32');
export const f64 = elements('f64');
export const words = elements('words');

/** Rows and columns of a matrix, which most kernels take together. */
export const SIZE = { rows: count, cols: count } as const;
/** Whether the result is added to what is there. */
export const ACCUMULATE = { acc: flag } as const;
