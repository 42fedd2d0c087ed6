/** @file Lists the copies that bring the tensors of a run into the slot of a queue. */
import type { OpDef, Tensor } from '../../graph/graph.js';
import { Variable } from '../../graph/ops/state.js';
import { BATCH } from '../../memory/batch.js';
import type { Program } from '../compile/compiler.js';
import { pointerWords } from '../compile/pointer-words.js';
import type { CopyList } from './copy-list.js';
import type { QueueSlot } from './queue-slot.js';
import type { SessionCore } from './session-core.js';

/** Lays `slot` out for `tensors` of a run of `program` on `batch`, and lists the copies to it. */
export function listElement(
  core: SessionCore,
  program: Program,
  batch: number,
  { slot, tensors }: { readonly slot: QueueSlot; readonly tensors: readonly Tensor[] },
): void {
  const { u32, i32 } = core.views;
  const rows = batch === 0 ? 0 : u32[batch / 4 + BATCH.rows]!;
  const words = pointerWords(core.feeds);
  const pointer = (feed: string, second = 0) => u32[batch / 4 + words.get(feed)!.word + second]!;
  const ragged = tensors.filter(({ spec }) => spec.ragged);
  const places = slot.layOut(
    rows,
    ragged.map(({ op }) => i32[pointer(op.name) / 4 + rows]!),
  );
  slot.before.clear();
  slot.after.clear();
  tensors.forEach((tensor, index) => {
    const to = places[index]!;
    if (tensor.spec.ragged) {
      const splits = pointer(tensor.op.name);
      slot.after.add(splits, to, (rows + 1) * 4);
      const values = Math.ceil((to + (rows + 1) * 4) / 64) * 64;
      slot.after.add(pointer(tensor.op.name, 1), values, i32[splits / 4 + rows]! * 8);
    } else if (tensor.op.def === (Variable as OpDef<unknown>)) {
      // Everything of a step sees variables as they were before its updates.
      slot.before.add(core.variable(tensor), to, tensor.columns * itemBytes(tensor));
    } else listTensor(slot.after, core, { program, tensor, rows, to, feed: pointer });
  });
}

interface TensorCopy {
  readonly program: Program;
  readonly tensor: Tensor;
  readonly rows: number;
  readonly to: number;
  /** Address of the values of a feed. */
  feed(name: string): number;
}

function listTensor(list: CopyList, { plan }: SessionCore, { program, tensor, rows, to, feed }: TensorCopy): void {
  const storage = program.storage(tensor);
  const bytes = itemBytes(tensor);
  /** `count` rows of `columns` that lie `stride` apart. */
  const add = (from: number, at: number, rows: number, columns: number, stride: number) => {
    const rowBytes = columns * bytes;
    list.addRows(from, at, { rows, bytes: rowBytes, fromBytes: stride * bytes, toBytes: rowBytes });
  };
  switch (storage.kind) {
    case 'feed':
      add(feed(storage.feed) + storage.offset, to, rows, storage.columns, storage.stride);
      return;
    case 'whole':
      add(storage.base, to, rows, storage.columns, storage.stride);
      return;
    case 'slice':
      for (let slice = 0; slice < plan.slices; slice++) {
        const [begin, end] = [slice, slice + 1].map((s) => Math.floor((rows * s) / plan.slices)) as [number, number];
        const at = to + begin * storage.columns * bytes;
        add(storage.base + slice * storage.sliceBytes, at, end - begin, storage.columns, storage.stride);
      }
      return;
    case 'global':
    case 'replicated':
    case 'copies':
      list.add(storage.base, to, storage.count * bytes);
      return;
    case 'partial':
      throw new Error(`${tensor.name} is a sum in parts`);
    default:
      storage satisfies never;
  }
}

const itemBytes = ({ spec }: Tensor) => (spec.dtype === 'int64' ? 8 : 4);
