/**
 * @file Requests that come together are computed together: a batch costs little more than a row.
 *
 * Who asks while nothing is computed waits for the turn of the event loop, so that what arrived with it goes along; who
 * asks meanwhile waits for the batch that is computed. Nobody waits for a timer.
 */

import type { EncodedChunk } from '../chunks.js';
import { mergeChunks } from './merge-chunks.js';
import { refusal } from './refusal.js';

/** What computes. */
export interface Scorer {
  readonly room: { readonly rows: number; readonly ids: ReadonlyMap<string, number> };
  readonly heads: readonly { readonly width: number }[];
  score(chunk: EncodedChunk): Promise<Float32Array[]>;
}

interface Waiting {
  readonly chunk: EncodedChunk;
  readonly signal: AbortSignal | undefined;
  done(values: Float32Array[]): void;
  failed(error: unknown): void;
}

/** Told of each batch that was computed. */
export type OnBatch = (batch: EncodedChunk) => void;

export class Gatherer {
  readonly #scorer: Scorer;
  readonly #onBatch: OnBatch;
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(scorer: Scorer, onBatch: OnBatch = () => {}) {
    this.#scorer = scorer;
    this.#onBatch = onBatch;
  }

  /** Parts of requests that wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Values of each head for rows that have room by themselves. What is aborted before its turn is not computed. */
  ask(chunk: EncodedChunk, signal?: AbortSignal): Promise<Float32Array[]> {
    if (this.#closed) return Promise.reject(refusal(503, 'the version was put away'));
    const answer = new Promise<Float32Array[]>((done, failed) => {
      this.#waiting.push({ chunk, signal, done, failed });
    });
    this.#running ??= this.#run();
    return answer;
  }

  /** Ends once all that was asked is answered; nothing is taken any more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    await new Promise<void>((next) => setImmediate(next));
    while (this.#waiting.length > 0) {
      const batch = this.#take();
      if (batch.length > 0) await this.#compute(batch);
    }
    this.#running = undefined;
  }

  /** As many of the oldest as have room together. */
  #take(): Waiting[] {
    const { rows: rowsMax, ids: idsMax } = this.#scorer.room;
    const taken: Waiting[] = [];
    const ids = new Map<string, number>();
    let [rows, index] = [0, 0];
    for (; index < this.#waiting.length; index++) {
      const one = this.#waiting[index]!;
      if (one.signal?.aborted) {
        one.failed(one.signal.reason);
        continue;
      }
      const more = [...idsMax.keys()].map((name) => [name, (ids.get(name) ?? 0) + idCount(one.chunk, name)] as const);
      const full = rows + one.chunk.count > rowsMax || more.some(([name, count]) => count > idsMax.get(name)!);
      if (full && taken.length > 0) break;
      for (const [name, count] of more) ids.set(name, count);
      rows += one.chunk.count;
      taken.push(one);
    }
    this.#waiting = this.#waiting.slice(index);
    return taken;
  }

  async #compute(batch: readonly Waiting[]): Promise<void> {
    try {
      const merged = mergeChunks(batch.map(({ chunk }) => chunk));
      const values = await this.#scorer.score(merged);
      let first = 0;
      for (const { chunk, done } of batch) {
        const end = first + chunk.count;
        done(values.map((list, head) => this.#part(list, head, first, end)));
        first = end;
      }
      this.#onBatch(merged);
    } catch (error) {
      for (const { failed } of batch) failed(error);
    }
  }

  #part(values: Float32Array, head: number, first: number, end: number): Float32Array {
    const { width } = this.#scorer.heads[head]!;
    return values.slice(first * width, end * width);
  }
}

function idCount({ feeds, count }: EncodedChunk, name: string): number {
  const given = feeds[name] as { readonly splits?: ArrayLike<number> } | undefined;
  return given?.splits?.[count] ?? 0;
}
