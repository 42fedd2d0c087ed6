/**
 * @file What a batch must keep to for a program: which feeds it must have, how many ids a slice holds, and how many
 * classes a loss has.
 */
import type { Op, OpDef, Tensor } from '../../graph/graph.js';
import { StopGradient } from '../../graph/ops/cast.js';
import { Columns, type ColumnsAttrs } from '../../graph/ops/columns.js';
import { SoftmaxLoss, type SoftmaxLossAttrs } from '../../graph/ops/losses.js';
import { Placeholder } from '../../graph/ops/state.js';
import { Dequeue } from '../../graph/tensor-queue.js';
import type { BatchSchema } from '../../memory/batch.js';
import type { ClassLimit, NeededFeed, RaggedLimit, TimeLimit } from './check-batch.js';
import type { FeedUse } from './compile-environment.js';
import type { LoweringContext } from './lowering.js';
import { pointerWords } from './pointer-words.js';

/** Ops whose values a batch brings. */
const FED = [Placeholder.type, Dequeue.type];

/** Feeds that the program reads. */
export function neededFeeds(schema: BatchSchema, feeds: readonly FeedUse[]): NeededFeed[] {
  const words = pointerWords(schema);
  return feeds.map(({ tensor }) => ({ name: tensor.op.name, word: words.get(tensor.op.name)!.word }));
}

/** Feeds of ids, and how many values a slice of each can hold. */
export function raggedLimits(schema: BatchSchema, feeds: readonly FeedUse[]): RaggedLimit[] {
  const words = pointerWords(schema);
  return feeds.flatMap(({ tensor, ragged }) => {
    const { name } = tensor.op;
    if (ragged === undefined) return [];
    const { capacity, most } = ragged;
    return [{ name, word: words.get(name)!.word, capacity, most }];
  });
}

/** Columns of feeds that are times. */
export function timeLimits(schema: BatchSchema, times: LoweringContext['times']): TimeLimit[] {
  const words = pointerWords(schema);
  return times.map(({ feed, stride, offset }) => {
    return { name: feed, word: words.get(feed)!.word, offset: offset / 4, stride: stride * 2 };
  });
}

/** Feeds, or a column of them, that are the classes of a loss as they are; `stopGradient` changes no value. */
export function classLimits(schema: BatchSchema, ops: readonly Op[]): ClassLimit[] {
  const words = pointerWords(schema);
  return ops.flatMap(({ def, attrs, inputs, name: op }) => {
    if (def !== (SoftmaxLoss as OpDef<unknown>) || !(attrs as SoftmaxLossAttrs).sparse) return [];
    const logits = inputs[0]!;
    const labels = withoutStops(inputs[1]!);
    const isColumn = labels.op.def === (Columns as OpDef<unknown>);
    const feed = isColumn ? withoutStops(labels.op.inputs[0]!) : labels;
    const place = FED.includes(feed.op.type) ? words.get(feed.op.name) : undefined;
    if (place === undefined) return [];
    const column = isColumn ? (labels.op.attrs as ColumnsAttrs).start : 0;
    return [{ name: feed.op.name, word: place.word, column, width: feed.columns, classes: logits.columns, op }];
  });
}

function withoutStops(tensor: Tensor): Tensor {
  return tensor.op.def === (StopGradient as OpDef<unknown>) ? withoutStops(tensor.op.inputs[0]!) : tensor;
}
