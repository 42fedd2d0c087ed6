/**
 * @file How the embeddings of a feature's ids become one tensor per example. Mirrors
 * native_training/embedding_combiners.
 *
 * The rows of a feature come one per id; row splits say which ids are whose.
 */
import { MonolithError } from '../../base/errors.js';
import { reduceMean, reduceMeanGradient, reduceSum, reduceSumGradient } from '../../tensor/ops/reduce.js';
import type { RaggedTensor } from '../../tensor/ragged-tensor.js';
import { Tensor } from '../../tensor/tensor.js';

type Floats = Tensor<'float32'>;
/** The ids of a feature; only their row splits are looked at. */
export type Key = Pick<RaggedTensor, 'rowCount' | 'splitAt' | 'valueRowIds'>;

export interface Combiner {
  /** Positions of the combined tensor per example; 0 for those that reduce to one row. */
  readonly maxSeqLength: number;
  combine(key: Key, embedding: Floats): Floats;
  /** Gradient with respect to the embeddings of the ids. */
  gradient(key: Key, grad: Floats): Floats;
}

/** The default: [B, D], the sum of the rows of each example. */
export class ReduceSum implements Combiner {
  readonly maxSeqLength = 0;

  combine(key: Key, embedding: Floats): Floats {
    return reduceSum(key.valueRowIds(), embedding, key.rowCount);
  }

  gradient(key: Key, grad: Floats): Floats {
    return reduceSumGradient(key.valueRowIds(), grad);
  }
}

/** [B, D], the mean; zeros for an example without ids. */
export class ReduceMean implements Combiner {
  readonly maxSeqLength = 0;

  combine(key: Key, embedding: Floats): Floats {
    return reduceMean(key.valueRowIds(), embedding, key.rowCount);
  }

  gradient(key: Key, grad: Floats): Floats {
    return reduceMeanGradient(key.valueRowIds(), grad);
  }
}

/** [B, n, D], the rows of the first n ids; missing positions are zero, further ids are dropped. */
export class FirstN implements Combiner {
  readonly maxSeqLength: number;

  constructor(seqLength: number) {
    if (!Number.isInteger(seqLength) || seqLength < 1) throw new MonolithError('ML_SEQ_LENGTH');
    this.maxSeqLength = seqLength;
  }

  combine(key: Key, embedding: Floats): Floats {
    const dim = embedding.shape[1]!;
    const out = new Float32Array(key.rowCount * this.maxSeqLength * dim);
    this.#forEach(key, (at, position) => out.set(embedding.data.subarray(at * dim, (at + 1) * dim), position * dim));
    return new Tensor('float32', [key.rowCount, this.maxSeqLength, dim], out);
  }

  gradient(key: Key, grad: Floats): Floats {
    const dim = grad.shape[2]!;
    const count = key.splitAt(key.rowCount);
    const out = new Float32Array(count * dim);
    this.#forEach(key, (at, position) => out.set(grad.data.subarray(position * dim, (position + 1) * dim), at * dim));
    return new Tensor('float32', [count, dim], out);
  }

  /** [B, n] int32: ones for the positions that have an id. */
  sizeMask(key: Key): Tensor<'int32'> {
    const mask = new Int32Array(key.rowCount * this.maxSeqLength);
    this.#forEach(key, (_, position) => mask.fill(1, position, position + 1));
    return new Tensor('int32', [key.rowCount, this.maxSeqLength], mask);
  }

  /** Calls `visit` with each id that is kept and its position among all positions of the batch. */
  #forEach(key: Key, visit: (at: number, position: number) => void): void {
    for (let r = 0; r < key.rowCount; r++) {
      const first = key.splitAt(r);
      const used = Math.min(key.splitAt(r + 1) - first, this.maxSeqLength);
      for (let k = 0; k < used; k++) visit(first + k, r * this.maxSeqLength + k);
    }
  }
}
