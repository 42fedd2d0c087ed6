/**
 * @file A place for an element of a queue in the memory of a session: a batch, as whoever takes the element is fed.
 *
 * Tensors with a row for each example are the arrays of the batch; what all examples share lies behind them, and is
 * copied to the variables that stand for it when the element is taken. The memory of a slot grows to the largest
 * element it has held.
 */
import type { Tensor } from '../../graph/graph.js';
import type { TensorQueue } from '../../graph/tensor-queue.js';
import { CACHE_LINE } from '../../memory/arena.js';
import { BATCH, pointerCount } from '../../memory/batch.js';
import { pointerWords } from '../compile/pointer-words.js';
import { CopyList } from './copy-list.js';
import type { SessionCore } from './session-core.js';

const padded = (bytes: number) => Math.ceil(bytes / CACHE_LINE) * CACHE_LINE;
const itemBytes = ({ spec }: Tensor) => (spec.dtype === 'int64' ? 8 : 4);

/** Whether examples have rows of it. */
export const isFed = ({ perExample }: Tensor): boolean => perExample;

export class QueueSlot {
  readonly queue: TensorQueue;
  /** Copies of variables, before the step, and of what it computes, after it. */
  readonly before: CopyList;
  readonly after: CopyList;
  /** Copies to the variables that stand for what all examples share. */
  readonly out: CopyList;
  readonly #core: SessionCore;
  /** Address of the batch header; arrays lie behind it. */
  #at = 0;
  #bytes = 0;
  #places: number[] = [];

  constructor(core: SessionCore, queue: TensorQueue) {
    this.#core = core;
    this.queue = queue;
    this.before = new CopyList(core, 'to a queue');
    this.after = new CopyList(core, 'to a queue');
    this.out = new CopyList(core, 'from a queue');
  }

  /** Address of the batch. */
  get batch(): number {
    return this.#at;
  }

  /** Whether examples have rows in it: then it is fed as a batch. */
  get isBatch(): boolean {
    return this.queue.values.some(isFed);
  }

  get rows(): number {
    return this.#core.views.u32[this.#at / 4 + BATCH.rows]!;
  }

  /**
   * Lays an element of `rows` rows out; `valueCounts` has the number of values of each ragged part. Where each part
   * goes: of a ragged one the splits, and behind them, at a cache line, the values.
   */
  layOut(rows: number, valueCounts: readonly number[]): readonly number[] {
    const { values } = this.queue;
    const { views, feeds } = this.#core;
    const words = pointerWords(feeds);
    const header = padded((BATCH.pointers + pointerCount(feeds)) * 4);
    let [ragged, top] = [0, header];
    const offsets = values.map((value) => {
      const start = top;
      const count = value.columns * (isFed(value) ? rows : 1);
      if (value.spec.ragged) top += padded((rows + 1) * 4) + padded(valueCounts[ragged++]! * 8);
      else top += padded(count * itemBytes(value));
      return start;
    });
    this.#reserve(top);
    const at = this.#at / 4;
    views.u32.fill(0, at, at + header / 4);
    views.u32[at + BATCH.rows] = rows;
    views.u32[at + BATCH.pointerCount] = pointerCount(feeds);
    this.#places = offsets.map((offset) => this.#at + offset);
    values.forEach((value, index) => {
      const place = this.#places[index]!;
      const first = words.get(value.op.name);
      if (first === undefined) return;
      views.u32[at + first.word] = place;
      if (value.spec.ragged) views.u32[at + first.word + 1] = place + padded((rows + 1) * 4);
    });
    this.#listOut();
    return this.#places;
  }

  /** What leaves the slot when it is taken. */
  #listOut(): void {
    this.out.clear();
    this.queue.values.forEach((value, index) => {
      if (isFed(value)) return;
      this.out.add(this.#places[index]!, this.#core.variable(value), value.columns * itemBytes(value));
    });
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#bytes) return;
    this.#bytes = Math.max(bytes, 2 * this.#bytes);
    this.#at = this.#core.arena.alloc(this.#bytes, `slot of ${this.queue.name}`);
  }

  /** Adds the arrays of another batch to this one: those it has none of. */
  join(batch: number): void {
    const { u32 } = this.#core.views;
    const [to, from] = [this.#at / 4 + BATCH.pointers, batch / 4 + BATCH.pointers];
    for (let word = 0; word < u32[batch / 4 + BATCH.pointerCount]!; word++) u32[to + word] ||= u32[from + word]!;
  }
}
