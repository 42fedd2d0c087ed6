/** @file Where the values of a program's tensors are. */
import type { Register } from './code.js';

/** A matrix operand of slice code. */
export interface Matrix {
  readonly pointer: Register;
  /** Register of the number of floats between rows. */
  readonly stride: Register;
  readonly columns: number;
}

/** Where a tensor's values are. Addresses are bytes. */
export type Storage =
  | {
      readonly kind: 'slice';
      readonly base: number;
      readonly sliceBytes: number;
      readonly stride: number;
      readonly columns: number;
    }
  | {
      readonly kind: 'feed';
      readonly feed: string;
      readonly stride: number;
      readonly columns: number;
      readonly offset: number;
    }
  | { readonly kind: 'partial'; readonly base: number; readonly sliceBytes: number; readonly count: number }
  | { readonly kind: 'global'; readonly base: number; readonly count: number }
  /** Every slice computes the same value for itself: a shared buffer would be written by several threads at once. */
  | { readonly kind: 'replicated'; readonly base: number; readonly sliceBytes: number; readonly count: number }
  /** The rows of all slices, one after the other. */
  | { readonly kind: 'whole'; readonly base: number; readonly stride: number; readonly columns: number }
  /** Every thread computes the same value for itself. */
  | { readonly kind: 'copies'; readonly base: number; readonly threadBytes: number; readonly count: number };
