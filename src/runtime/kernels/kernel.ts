/** @file An entry of the kernel table, and the types that follow from its operands. */
import { type Access, type Element, type Operand, type OperandType, SUFFIXES } from './operand.js';

export type Operands = Readonly<Record<string, Operand>>;

/** Folder or file of assembly/ that exports a kernel; `host` are those that the program calls its thread back for. */
export type KernelModule = 'dense' | 'optim' | 'sparse' | 'table' | 'filter' | 'counts' | 'host';

/** One word of a call. */
export interface Word {
  readonly name: string;
  readonly kind: 'address' | 'count' | 'float';
  readonly access: Access;
  readonly element: Element;
}

/**
 * How much of what a call writes is there afterwards: bytes of one, times words of the call; or parts of what was
 * there.
 */
export type Extent<O extends Operands> = 'within' | readonly [bytes: number, ...times: WordName<O>[]];

export interface KernelOptions<O extends Operands> {
  /** What the call answers, for a kernel that answers anything. */
  readonly result?: string;
  /** Of blocks that a call leaves partly unwritten. */
  readonly extents?: { readonly [K in keyof O]?: Extent<O> };
}

export interface Kernel<O extends Operands = Operands> {
  readonly name: string;
  readonly opcode: number;
  readonly module: KernelModule;
  /** One sentence; `(+)=` adds to what is there when `acc` is 1. */
  readonly meaning: string;
  /** In the order of the call. */
  readonly operands: O;
  /** The words of the call, in order. */
  readonly words: readonly Word[];
  readonly result?: string;
  readonly extents: Readonly<Record<string, Extent<Operands> | undefined>>;
}

/** Names of the words of an operand `K`. */
type WordsOf<K extends string, T extends OperandType> = `${K}${(typeof SUFFIXES)[T][number]}`;
export type WordName<O extends Operands> = { [K in keyof O & string]: WordsOf<K, O[K]['type']> }[keyof O & string];

/** A value for each word of a call, by name. */
export type Words<O extends Operands, Value = number> = {
  readonly [K in keyof O & string as WordsOf<K, O[K]['type']>]: Value;
};
/** The words of a kernel, such as `WordsFor<typeof KERNEL.subF32>`. */
export type WordsFor<K extends Kernel, Value = number> = Words<K['operands'], Value>;

/** An entry before it has its name and number. */
export interface Entry<O extends Operands> extends KernelOptions<O> {
  readonly meaning: string;
  readonly operands: O;
  readonly module?: KernelModule;
}

export function kernel<const O extends Operands>(
  meaning: string,
  operands: O,
  options: KernelOptions<O> = {},
): Entry<O> {
  return { meaning, operands, ...options };
}

type Entries = Readonly<Record<string, Entry<Operands>>>;
type OperandsOf<E> = E extends { readonly operands: infer O extends Operands } ? O : never;

/** Kernels that one module of assembly/ exports. */
export function family<const E extends Entries>(module: KernelModule, entries: E): E {
  return Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, { ...entry, module }])) as E;
}

/** Gives every entry its name, its opcode and its words. Opcodes count from 1, in the order of the table. */
export function tabled<const E extends Entries>(entries: E): { readonly [K in keyof E]: Kernel<OperandsOf<E[K]>> } {
  const kernels = Object.entries<Entry<Operands>>(entries).map(([name, entry], index) => [
    name,
    { extents: {}, ...entry, name, opcode: index + 1, words: wordsOf(entry.operands) },
  ]);
  return Object.fromEntries(kernels) as { readonly [K in keyof E]: Kernel<OperandsOf<E[K]>> };
}

function wordsOf(operands: Operands): Word[] {
  return Object.entries(operands).flatMap(([name, { type, access, element }]) =>
    SUFFIXES[type].map((suffix): Word => {
      if (suffix !== '' || type === 'count' || type === 'flag') {
        return { name: `${name}${suffix}`, kind: 'count', access: 'none', element: 'u32' };
      }
      return { name, kind: type === 'float' ? 'float' : 'address', access, element };
    }),
  );
}
