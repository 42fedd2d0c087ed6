/**
 * @file Unique keys per row with the places their values go to, and filling those places.
 *
 * Mirrors distribution_ops unique_key_with_value_and_offset, fill_with_offset_map and finalize_shared_tensor. The value
 * buffer is shared by several fills; a handle stands for it until the last is done.
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { RaggedTensor } from '../ragged-tensor.js';
import { Tensor } from '../tensor.js';
import { check, refuse } from './check.js';

/** A float vector that several ops fill before one takes it out. */
export class SharedTensorHandle {
  #buffer: Float32Array | undefined;

  constructor(buffer: Float32Array) {
    this.#buffer = buffer;
  }

  /** The vector, to be filled in place. */
  get buffer(): Float32Array {
    if (this.#buffer === undefined) throw new MonolithError('ML_CLOSED', { what: 'the shared tensor' });
    return this.#buffer;
  }

  /** Takes the vector out; the handle is empty then. */
  take(): Float32Array {
    const taken = this.buffer;
    this.#buffer = undefined;
    return taken;
  }
}

export interface UniqueKeys {
  readonly uniqueKey: RaggedTensor;
  /** Row, then unique key of the row, then the float offsets of its occurrences. */
  readonly valueOffset: RaggedTensor;
  readonly valueBuffer: SharedTensorHandle | null;
}

/** Values of `key` and its dims, checked. */
export function checkUniqueKey(key: RaggedTensor, dims: readonly number[]): BigInt64Array {
  if (key.rowCount !== dims.length) {
    throw new MonolithError('ML_UNIQUE_ROWS', { expected: dims.length, found: key.rowCount });
  }
  const values = key.values;
  check(values instanceof Tensor && values.dtype === 'int64', 'uniqueKeyWithValueAndOffset', 'keys must be int64');
  return values.data as BigInt64Array;
}

/**
 * Unique keys of each row in first-seen order. Row i has values of width dims[i]; offsets run over all rows.
 *
 * ```ts
 * const { valueOffset } = uniqueKeyWithValueAndOffset(RaggedTensor.fromRows('int64', [[7, 8, 7]]), [2]);
 * valueOffset.toArray(); // [[[0n, 4n], [2n]]]
 * ```
 */
export function uniqueKeyWithValueAndOffset(
  key: RaggedTensor,
  dims: readonly number[],
  options: { generateBuffer?: boolean } = {},
): UniqueKeys {
  const { generateBuffer = true } = checkOptions('uniqueKeyWithValueAndOffset', options, ['generateBuffer']);
  const values = checkUniqueKey(key, dims);
  const unique: bigint[] = [];
  const uniqueSplits = new BigInt64Array(dims.length + 1);
  const places: number[][] = [];
  let offset = 0;
  dims.forEach((dim, r) => {
    const seen = new Map<bigint, number[]>();
    for (let at = key.splitAt(r); at < key.splitAt(r + 1); at++, offset += dim) {
      const id = values[at]!;
      const known = seen.get(id);
      if (known !== undefined) known.push(offset);
      else {
        const list = [offset];
        seen.set(id, list);
        places.push(list);
        unique.push(id);
      }
    }
    uniqueSplits[r + 1] = BigInt(unique.length);
  });
  const offsetSplits = new BigInt64Array(places.length + 1);
  places.forEach((list, u) => {
    offsetSplits[u + 1] = offsetSplits[u]! + BigInt(list.length);
  });
  return uniqueKeysOf({
    unique: BigInt64Array.from(unique),
    uniqueSplits,
    offsets: BigInt64Array.from(places.flat(), BigInt),
    offsetSplits,
    bufferLength: generateBuffer ? offset : undefined,
  });
}

export interface UniqueKeyParts {
  readonly unique: BigInt64Array;
  readonly uniqueSplits: BigInt64Array;
  readonly offsets: BigInt64Array;
  readonly offsetSplits: BigInt64Array;
  /** No buffer is made without it. */
  readonly bufferLength: number | undefined;
}

/** The ragged tensors over the flat parts. */
export function uniqueKeysOf({
  unique,
  uniqueSplits,
  offsets,
  offsetSplits,
  bufferLength,
}: UniqueKeyParts): UniqueKeys {
  const splits = Tensor.vector('int64', uniqueSplits);
  const perKey = RaggedTensor.fromRowSplits(Tensor.vector('int64', offsets), Tensor.vector('int64', offsetSplits));
  return {
    uniqueKey: RaggedTensor.fromRowSplits(Tensor.vector('int64', unique), splits),
    valueOffset: RaggedTensor.fromRowSplits(perKey, splits),
    valueBuffer: bufferLength === undefined ? null : new SharedTensorHandle(new Float32Array(bufferLength)),
  };
}

/**
 * Copies the next dims[i] floats of `value` to every offset of the unique key that pos[i][j] numbers (over all rows).
 */
export function fillWithOffsetMap(
  pos: RaggedTensor,
  value: Float32Array,
  offsetMap: RaggedTensor,
  buffer: SharedTensorHandle,
  dims: readonly number[],
): SharedTensorHandle {
  const out = buffer.buffer;
  const expected = expectedSize(pos, dims);
  if (value.length !== expected) {
    const splits = pos.rowSplits.data.join(' ');
    throw new MonolithError('ML_FILL_VALUE', { expected, actual: value.length, splits });
  }
  forEachPlace(pos, offsetMap, dims, out.length, (at, dim, offset) => out.set(value.subarray(at, at + dim), offset));
  return buffer;
}

/** Gradient of fillWithOffsetMap with respect to `value`: the sum of the buffer's gradient over the places. */
export function fillWithOffsetMapGradient(
  pos: RaggedTensor,
  bufferGradient: Float32Array,
  offsetMap: RaggedTensor,
  dims: readonly number[],
): Float32Array {
  const out = new Float32Array(expectedSize(pos, dims));
  forEachPlace(pos, offsetMap, dims, bufferGradient.length, (at, dim, offset) => {
    for (let c = 0; c < dim; c++) out[at + c] = out[at + c]! + bufferGradient[offset + c]!;
  });
  return out;
}

/**
 * Takes the buffer out of the handle. Several handles only order the ops before this one; they must be one and the
 * same.
 */
export function finalizeSharedTensor(handles: readonly SharedTensorHandle[]): Tensor<'float32'> {
  const first = handles[0];
  check(first !== undefined, 'finalizeSharedTensor', 'there is no handle');
  check(
    handles.every((handle) => handle === first),
    'finalizeSharedTensor',
    'the handles are of different tensors',
  );
  return Tensor.vector('float32', first.take());
}

function expectedSize(pos: RaggedTensor, dims: readonly number[]): number {
  if (pos.rowCount !== dims.length) throw new MonolithError('ML_FILL_ROWS', { rows: pos.rowCount, dims: dims.length });
  return dims.reduce((total, dim, r) => total + (pos.splitAt(r + 1) - pos.splitAt(r)) * dim, 0);
}

/** Calls `visit` with the position in the value vector, the width and each place of it. */
function forEachPlace(
  pos: RaggedTensor,
  offsetMap: RaggedTensor,
  dims: readonly number[],
  bufferLength: number,
  visit: (at: number, dim: number, offset: number) => void,
): void {
  const op = 'fillWithOffsetMap';
  const perKey = offsetMap.values;
  check(perKey instanceof RaggedTensor && perKey.values instanceof Tensor, op, 'the offset map must have two levels');
  check(pos.values instanceof Tensor, op, 'pos must have one ragged level');
  const numbers = pos.values.data;
  const offsets = perKey.values.data;
  let at = 0;
  dims.forEach((dim, r) => {
    for (let p = pos.splitAt(r); p < pos.splitAt(r + 1); p++, at += dim) {
      const u = Number(numbers[p]);
      if (u < 0 || u >= perKey.rowCount) throw new MonolithError('ML_FILL_POS', { pos: u, size: perKey.rowCount });
      for (let o = perKey.splitAt(u); o < perKey.splitAt(u + 1); o++) {
        const offset = Number(offsets[o]);
        if (offset < 0 || offset + dim > bufferLength) refuse(op, `offset ${offset} lies outside the buffer`);
        visit(at, dim, offset);
      }
    }
  });
}
