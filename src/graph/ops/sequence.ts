/** @file What the lengths of a ragged feature say: masks and lengths of sequences. Mirrors gen_seq_mask. */

import { misfit, type OpDef, type Tensor } from '../graph.js';
import { type Ids, tensorOfIds } from '../typed-inputs.js';
import { sumInner } from './inner.js';
import { checkWhole } from './inner-shape.js';
import { nameOf, type OpOptions } from './options.js';

export const SequenceMask: OpDef<{ readonly n: number }> = {
  type: 'SequenceMask',
  infer: ([ids], { n }) => {
    if (!ids?.spec.ragged) throw misfit('SequenceMask', 'a ragged placeholder of ids is needed');
    return [{ dtype: 'float32', shape: ['batch', n] }];
  },
};

/** 1 for each of the first n positions that has an id, else 0, `[batch, n]`. */
export function sequenceMask(ids: Ids, n: number, options: OpOptions = {}): Tensor {
  const name = nameOf('sequenceMask', options, 'SequenceMask');
  return ids.graph.add(SequenceMask, [tensorOfIds(ids)], { n: checkWhole(name, 'the sequence length', n) }, name)
    .output;
}

/** How many of the first n positions have an id, `[batch]`. */
export function sequenceLengths(ids: Ids, n: number, options: OpOptions = {}): Tensor {
  return sumInner(sequenceMask(ids, n), { name: nameOf('sequenceLengths', options, 'SequenceLengths') });
}
