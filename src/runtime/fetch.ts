/** @file Reads the value of a fetch out of shared memory after a step. */
import { type Op, Tensor } from '../graph/graph.js';
import { Variable } from '../graph/ops/state.js';
import type { Program } from './compiler.js';
import type { Session } from './session.js';

export type FetchValue = number | Float32Array | BigInt64Array | undefined;

export function readFetch(session: Session, program: Program, fetch: Tensor | Op, rows: number): FetchValue {
  if (!(fetch instanceof Tensor)) return undefined;
  if (fetch.op.type === Variable.type) return session.readVariable(fetch.op.name).slice();
  const storage = program.storage(fetch);
  const { f32 } = session.views;
  switch (storage.kind) {
    case 'partial': {
      // Slices in order, in f32 as the dense update sums them.
      const sum = new Float32Array(storage.count);
      for (let slice = 0; slice < session.plan.slices; slice++) {
        const at = (storage.base + slice * storage.sliceBytes) / 4;
        for (let i = 0; i < storage.count; i++) sum[i]! += f32[at + i]!;
      }
      return shaped(fetch, sum);
    }
    case 'global':
    case 'replicated':
      return shaped(fetch, f32.slice(storage.base / 4, storage.base / 4 + storage.count));
    case 'slice': {
      const values = new Float32Array(rows * storage.columns);
      const { slices } = session.plan;
      let row = 0;
      for (let slice = 0; slice < slices; slice++) {
        const end = Math.floor((rows * (slice + 1)) / slices);
        const first = row;
        for (; row < end; row++) {
          const at = (storage.base + slice * storage.sliceBytes) / 4 + (row - first) * storage.stride;
          values.set(f32.subarray(at, at + storage.columns), row * storage.columns);
        }
      }
      return values;
    }
    case 'feed':
      throw new Error(`fetching the feed ${storage.feed} would return what was given`);
    default:
      return storage satisfies never;
  }
}

function shaped(tensor: Tensor, values: Float32Array): number | Float32Array {
  return tensor.spec.shape.length === 0 ? values[0]! : values;
}
