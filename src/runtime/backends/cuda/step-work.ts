/**
 * @file The works of a step on a host and a device: what each does, and the blocks, rows and lists they are made of.
 */
import type { GradientSource } from './gradient-sort.js';
import type { Instruction } from './read-program.js';
import type { BlockPlace, BlockSource } from './step-blocks.js';
import type { Work } from './step-plan.js';
import type { TablePlaces } from './table-use.js';

/** Rows that a step gathers: `count` addresses from `addresses` on, of `width` floats each, a multiple of four. */
export interface RowPack {
  readonly addresses: number;
  readonly width: number;
  readonly capacity: number;
  /** Word that holds how many there are. */
  readonly countWord: number;
  readonly block: number;
}

/** Gradients that a step sorts by the id they go to. */
export interface SortPlan {
  readonly source: GradientSource;
  readonly uniqueMax: number;
  readonly block: number;
}

/** Piece of assembly/sparse/slices.ts: a matrix that rows go to or gradients come from. */
export interface PieceList {
  readonly words: Uint32Array;
  readonly places: readonly { readonly block: number; readonly offset: number }[];
}

/** The ids of a program and a table on the device. */
export interface TableLookup {
  /** Address of the table's record. */
  readonly record: number;
  readonly countWord: number;
  readonly capacity: number;
  readonly ids: BlockPlace;
  /** Block of what is found. */
  readonly found: number;
  /** Of a program that updates the table; see `TablePlaces`. */
  readonly gradients: (BlockPlace & Omit<NonNullable<TablePlaces['gradients']>, 'address'>) | null;
}

export type LaunchArgument =
  | { readonly kind: 'block'; readonly block: number; readonly offset: number }
  | { readonly kind: 'rows'; readonly pack: number }
  | { readonly kind: 'found'; readonly lookup: number }
  | { readonly kind: 'pieces'; readonly list: PieceList }
  | { readonly kind: 'none' }
  | { readonly kind: 'constant'; readonly value: number }
  /** How many segments a sort found. */
  | { readonly kind: 'segments'; readonly sort: number }
  | { readonly kind: 'number'; readonly register: number; readonly float: boolean; readonly changing: boolean };

export type StepWork = Work &
  (
    | { readonly kind: 'feeds' }
    | { readonly kind: 'host'; readonly instruction: Instruction }
    | {
        readonly kind: 'launch';
        /** Name on the device, which is not always that of the instruction. */
        readonly kernel: string;
        readonly instruction: Instruction;
        readonly args: readonly LaunchArgument[];
      }
    | { readonly kind: 'pack'; readonly pack: number }
    | { readonly kind: 'find' | 'apply'; readonly lookup: number; readonly instruction: Instruction }
    | { readonly kind: 'sort'; readonly sort: number }
    | { readonly kind: 'end' }
  );

export interface StepWorks {
  readonly works: readonly StepWork[];
  readonly blocks: readonly BlockSource[];
  readonly packs: readonly RowPack[];
  readonly lookups: readonly TableLookup[];
  readonly sorts: readonly SortPlan[];
}
