/** @file What turns rows into the bytes of a file. */
import type { DataRow } from './place.js';

/** Turns rows into bytes, some at a time. */
export interface RowEncoder {
  block(rows: readonly DataRow[]): Uint8Array | string;
  end?(): Uint8Array | string;
}
