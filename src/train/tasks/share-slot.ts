/**
 * @file Features whose ids get the bits of another feature slot, so that they use its rows: what share_slot does to the
 * parsed features of an input. The ids are changed in the memory of each batch before it is handed on.
 */
import { MonolithError } from '../../base/errors.js';
import { type Positioned, positionThrough } from '../../base/input-state.js';
import type { BatchInput, BatchSource } from '../../data/batch-source.js';
import { defineSchema, type Features } from '../../data/schema.js';
import { BATCH } from '../../memory/batch.js';
import { pointerWords } from '../../runtime/compile/pointer-words.js';
import type { Session } from '../../runtime/session/session.js';
import { coreOf } from '../../runtime/session/session-handle.js';
import { switchSlot } from '../../sparse/config/fid.js';
import type { TaskInput } from './native-task.js';
import { taskSource } from './task-source.js';

/** By the name of a feature: whether its ids are changed in place, and the slot they get. */
export type ShareMeta = Readonly<Record<string, readonly [inPlace: boolean, slot: number]>>;

interface Shared {
  readonly from: string;
  readonly to: string;
  readonly slot: number;
}

export function sharedInput(
  input: TaskInput,
  shareMeta: ShareMeta,
  suffix: string,
  register: (name: string, slot: number) => void,
): TaskInput {
  const features: Record<string, Features[string]> = { ...input.schema.features };
  const shared = Object.entries(shareMeta).map(([from, [inPlace, slot]]): Shared => {
    const feature = features[from];
    if (feature?.kind !== 'ragged') {
      throw new MonolithError('ML_TASK', { reason: `feature ${from} has no ids to share the slot of another` });
    }
    // Each feature gets its own name: upstream's loop uses the last one for all.
    const to = inPlace ? from : `${from}_${suffix}`;
    features[to] = feature;
    register(to, slot);
    return { from, to, slot };
  });
  const schema = defineSchema(features);
  const inner = taskSource({ ...input, schema });
  const data: BatchSource = {
    open: async (session, options) => new SharedBatches(await inner.open(session, options), session, shared),
  };
  return { ...input, schema, data };
}

class SharedBatches implements BatchInput {
  readonly batchesAhead: number;
  readonly saveState?: Required<Positioned>['saveState'];
  readonly restoreState?: Required<Positioned>['restoreState'];
  readonly #input: BatchInput;
  readonly #session: Session;
  readonly #shared: readonly Shared[];
  /** Room for the changed ids of a feature, by batch and feature. */
  readonly #rooms = new Map<string, { readonly at: number; readonly count: number }>();

  constructor(input: BatchInput, session: Session, shared: readonly Shared[]) {
    this.#input = input;
    this.#session = session;
    this.#shared = shared;
    this.batchesAhead = input.batchesAhead ?? 1;
    Object.assign(
      this,
      positionThrough(input, () => 0),
    );
  }

  get begin() {
    return this.#input.begin;
  }

  next(): number | Promise<number> {
    const next = this.#input.next();
    return typeof next === 'number' ? this.#changed(next) : next.then((batch) => this.#changed(batch));
  }

  close(): void | Promise<void> {
    return this.#input.close?.();
  }

  #changed(batch: number): number {
    const { views, schema } = coreOf(this.#session);
    const words = pointerWords(schema);
    const rows = views.u32[batch / 4 + BATCH.rows]!;
    for (const { from, to, slot } of this.#shared) {
      const [source, target] = [words.get(from)!.word, words.get(to)!.word];
      const splits = views.u32[batch / 4 + source]!;
      const count = views.u32[splits / 4 + rows]!;
      const at = views.u32[batch / 4 + source + 1]!;
      const place = from === to ? at : this.#room(`${batch} ${to}`, count);
      const ids = views.i64.subarray(at / 8, at / 8 + count);
      for (let i = 0; i < count; i++) views.i64[place / 8 + i] = switchSlot(ids[i]!, slot, 2);
      views.u32[batch / 4 + target] = splits;
      views.u32[batch / 4 + target + 1] = place;
    }
    return batch;
  }

  #room(key: string, count: number): number {
    const known = this.#rooms.get(key);
    if (known !== undefined && known.count >= count) return known.at;
    const made = { at: coreOf(this.#session).arena.alloc(Math.max(8, count * 8), 'ids of a shared slot'), count };
    this.#rooms.set(key, made);
    return made.at;
  }
}
