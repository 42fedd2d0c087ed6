/** @file Reads the value of a fetch out of shared memory after a step. */
import { type Op, type OpDef, Tensor } from '../../graph/graph.js';
import { Variable } from '../../graph/ops/state.js';
import { BATCH } from '../../memory/batch.js';
import { COMMAND_CAPACITY } from '../../memory/control-layout.js';
import type { Program } from '../compile/compiler.js';
import { pointerWords } from '../compile/pointer-words.js';
import type { SessionCore } from './session-core.js';

/** Rows of ids as they are fed: row r has `values[splits[r]]` up to, but not including, `values[splits[r + 1]]`. */
export interface RaggedValue {
  readonly splits: Int32Array;
  readonly values: BigInt64Array;
}
export type FetchValue = number | Float32Array | BigInt64Array | RaggedValue | undefined;

/** Whether the value of each step is still there when several steps were run: true of ops and of scalars per batch. */
export function outlivesStep(program: Program, fetch: Tensor | Op): boolean {
  return !(fetch instanceof Tensor) || program.captured.has(fetch);
}

/** The value of `fetch` after the step that `command` ran on `batch`. */
export function readFetch(
  session: SessionCore,
  program: Program,
  fetch: Tensor | Op,
  command: number,
  batch: number,
): FetchValue {
  if (!(fetch instanceof Tensor)) return undefined;
  const capture = program.captured.get(fetch);
  if (capture !== undefined) {
    return readCapture(session, program, capture, { command, slices: fetch.spec.partial ? session.plan.slices : 1 });
  }
  if (fetch.op.def === (Variable as OpDef<unknown>)) {
    const values = session.variables.read(fetch.op.name).slice();
    return values instanceof Float32Array ? shaped(fetch, values) : values;
  }
  const rows = batch === 0 ? 0 : session.views.u32[batch / 4 + BATCH.rows]!;
  if (fetch.spec.ragged) return readRagged(session, fetch, rows, batch);
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
    case 'copies':
      return shaped(fetch, f32.slice(storage.base / 4, storage.base / 4 + storage.count));
    case 'whole':
      return f32.slice(storage.base / 4, storage.base / 4 + rows * storage.columns);
    case 'slice': {
      const { slices } = session.plan;
      const values = new Float32Array(rows * storage.columns);
      let first = 0;
      for (let slice = 0; slice < slices; slice++) {
        const end = Math.floor((rows * (slice + 1)) / slices);
        const at = (storage.base + slice * storage.sliceBytes) / 4;
        copyRows(values, first, end, f32, at, storage);
        first = end;
      }
      return values;
    }
    case 'feed': {
      const { word } = pointerWords(session.feeds).get(storage.feed)!;
      const at = session.views.u32[batch / 4 + word]! + storage.offset;
      const { stride, columns } = storage;
      return fetch.spec.dtype === 'int64'
        ? compactIds(new BigInt64Array(rows * columns), session.views.i64, at / 8, stride, columns)
        : copyRows(new Float32Array(rows * columns), 0, rows, f32, at / 4, { stride, columns });
    }
    default:
      return storage satisfies never;
  }
}

function readRagged({ views, feeds }: SessionCore, { op }: Tensor, rows: number, batch: number): RaggedValue {
  const { word } = pointerWords(feeds).get(op.name)!;
  const [at, first] = [views.u32[batch / 4 + word]! / 4, views.u32[batch / 4 + word + 1]! / 8];
  const splits = views.i32.slice(at, at + rows + 1);
  return { splits, values: views.i64.slice(first, first + splits[rows]!) };
}

/**
 * Fills the rows [first, end) of `to` with those of `from`, which lie `stride` apart from `at` on. Floats alone, and no
 * view for each row: a kind of array more, or the views, are garbage of tens of kilobytes for each batch.
 */
function copyRows(
  to: Float32Array,
  first: number,
  end: number,
  from: Float32Array,
  at: number,
  { stride, columns }: { readonly stride: number; readonly columns: number },
): Float32Array {
  if (stride === columns) {
    to.set(from.subarray(at, at + (end - first) * columns), first * columns);
    return to;
  }
  for (let row = first; row < end; row++) {
    const place = at + (row - first) * stride;
    for (let c = 0; c < columns; c++) to[row * columns + c] = from[place + c]!;
  }
  return to;
}

/** Fills `to` with rows of `columns` ids of `from`, which lie `stride` apart from `at` on. */
function compactIds(
  to: BigInt64Array,
  from: BigInt64Array,
  at: number,
  stride: number,
  columns: number,
): BigInt64Array {
  for (let row = 0; row * columns < to.length; row++) {
    for (let c = 0; c < columns; c++) to[row * columns + c] = from[at + row * stride + c]!;
  }
  return to;
}

/** Slices in order, in f32 as the dense update sums them; of what all slices have alike, the first one's. */
function readCapture(
  session: SessionCore,
  program: Program,
  capture: number,
  { command, slices }: { command: number; slices: number },
): number {
  const { base, commandBytes } = program.captures;
  const place = (base + (command & (COMMAND_CAPACITY - 1)) * commandBytes) / 4 + capture * session.plan.slices;
  let sum = 0;
  for (let slice = 0; slice < slices; slice++) sum = Math.fround(sum + session.views.f32[place + slice]!);
  return sum;
}

function shaped(tensor: Tensor, values: Float32Array): number | Float32Array {
  return tensor.spec.shape.length === 0 ? values[0]! : values;
}
