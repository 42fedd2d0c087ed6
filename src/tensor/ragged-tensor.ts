/**
 * @file A ragged tensor: values and the row splits that cut them into rows of any length.
 *
 * Row r is values[rowSplits[r] .. rowSplits[r + 1]). Values may be ragged themselves. The row id of each value is
 * computed when first asked for and kept (upstream keeps it as an attribute of the ragged object; see ragged_utils).
 */
import { MonolithError } from '../base/errors.js';
import { type DType, type Nested, Tensor } from './tensor.js';

export type RowSplits = Tensor<'int64'> | Tensor<'int32'>;

/** Rows of different lengths: values, and the splits that cut them. */
export class RaggedTensor {
  readonly values: Tensor | RaggedTensor;
  readonly rowSplits: RowSplits;
  #valueRowIds: Tensor<'int64'> | undefined;

  private constructor(values: Tensor | RaggedTensor, rowSplits: RowSplits) {
    this.values = values;
    this.rowSplits = rowSplits;
  }

  /**
   * From values and splits, which are checked unless `validate` is false; even then there must be at least one split.
   */
  static fromRowSplits(
    values: Tensor | RaggedTensor,
    rowSplits: RowSplits,
    { validate = true }: { validate?: boolean } = {},
  ): RaggedTensor {
    if (rowSplits.rank !== 1 || rowSplits.size === 0) throw invalidSplits('they must be a list of at least one number');
    if (validate) checkSplits(rowSplits.data, lengthOf(values));
    return new RaggedTensor(values, rowSplits);
  }

  /**
   * From a list of rows; rows of lists give one more ragged level.
   *
   * ```ts
   * RaggedTensor.fromRows('int64', [[], [1], [2, 3]]).rowSplits.toArray(); // [0n, 0n, 1n, 3n]
   * ```
   */
  static fromRows(dtype: DType, rows: readonly (readonly Nested[])[]): RaggedTensor {
    const splits = new BigInt64Array(rows.length + 1);
    rows.forEach((row, r) => {
      splits[r + 1] = splits[r]! + BigInt(row.length);
    });
    const items = rows.flat(1) as Nested[];
    const deeper = items.length > 0 && items.every((item) => Array.isArray(item));
    const values = deeper ? RaggedTensor.fromRows(dtype, items as Nested[][]) : Tensor.of(dtype, items);
    return RaggedTensor.fromRowSplits(values, Tensor.vector('int64', splits));
  }

  get rowCount(): number {
    return this.rowSplits.size - 1;
  }

  /** Number of ragged levels. */
  get raggedRank(): number {
    return this.values instanceof RaggedTensor ? this.values.raggedRank + 1 : 1;
  }

  get rank(): number {
    return this.values.rank + 1;
  }

  /** Position of the first value of row r, and of the end of row r - 1. */
  splitAt(r: number): number {
    return Number(this.rowSplits.data[r]);
  }

  /** int64 row id of each value. The second call returns the same object. */
  valueRowIds(): Tensor<'int64'> {
    if (this.#valueRowIds === undefined) {
      const first = this.splitAt(0);
      const ids = new BigInt64Array(this.splitAt(this.rowCount) - first);
      for (let r = 0; r < this.rowCount; r++) {
        const end = this.splitAt(r + 1) - first;
        for (let at = this.splitAt(r) - first; at < end; at++) ids[at] = BigInt(r);
      }
      this.#valueRowIds = Tensor.vector('int64', ids);
    }
    return this.#valueRowIds;
  }

  toArray(): Nested[][] {
    const values = this.values.toArray() as Nested[];
    return Array.from({ length: this.rowCount }, (_, r) => values.slice(this.splitAt(r), this.splitAt(r + 1)));
  }
}

function invalidSplits(reason: string): MonolithError {
  return new MonolithError('ML_RAGGED_SPLITS', { reason });
}

function lengthOf(values: Tensor | RaggedTensor): number {
  if (values instanceof RaggedTensor) return values.rowCount;
  const length = values.shape[0];
  if (length === undefined) throw invalidSplits('a scalar has no rows to split');
  return length;
}

function checkSplits(splits: BigInt64Array | Int32Array, length: number): void {
  if (Number(splits[0]) !== 0) throw invalidSplits(`the first is ${splits[0]}, not 0`);
  for (let r = 1; r < splits.length; r++) {
    if (splits[r]! < splits[r - 1]!) throw invalidSplits(`number ${r} is ${splits[r]}, below ${splits[r - 1]}`);
  }
  if (Number(splits.at(-1)) !== length)
    throw invalidSplits(`the last is ${splits.at(-1)}, but there are ${length} values`);
}
