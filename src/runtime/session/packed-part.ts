/** @file What each owner has of a lease, packed: the form in which it is sent. */

/** What one owner has of a table, in a packed list. */
export interface PackedTable {
  readonly name: string;
  readonly dim: number;
  readonly ids: BigInt64Array;
  /** How many of the ids get a gradient: the first ones. */
  readonly trained: number;
  /** `dim` floats for each id, to be filled. */
  readonly rows: Float32Array;
  /** `dim` floats for each id that is trained. */
  readonly gradients: Float32Array;
}

/** What one owner has of a batch: parts of `ids`, `rows` and `gradients` are those of the tables. */
export interface PackedPart {
  readonly tables: readonly PackedTable[];
  readonly ids: BigInt64Array;
  readonly rows: Float32Array;
  readonly gradients: Float32Array;
}
