/** @file Held-out batches in the memory of a session that trains, for one evaluation after the other. */
import { MonolithError } from '../../base/errors.js';
import type { BatchInput, BatchSource } from '../../data/batch-source.js';
import type { Session } from '../../runtime/session/session.js';

/**
 * Gives all batches of the data each time it is asked. Data whose length is known stays open, so that what is in memory
 * already is not written again.
 */
export class HeldOut {
  readonly #source: BatchSource;
  readonly #session: Session;
  readonly #batchSize: number;
  #open: BatchInput | undefined;

  constructor(source: BatchSource, session: Session, batchSize: number) {
    this.#source = source;
    this.#session = session;
    this.#batchSize = batchSize;
  }

  async *batches(): AsyncGenerator<number, void, undefined> {
    const input = this.#open ?? (await this.#opened());
    this.#open = undefined;
    let isWhole = false;
    try {
      if (this.#source.counted !== true) yield* untilEnd(input);
      else for (let batch = input.batchCount ?? 0; batch > 0; batch--) yield await input.next();
      isWhole = true;
    } finally {
      if (isWhole && this.#source.counted === true) this.#open = input;
      else await input.close?.();
    }
  }

  async #opened(): Promise<BatchInput> {
    const epochs = this.#source.counted === true ? Number.POSITIVE_INFINITY : 1;
    return this.#source.open(this.#session, { mode: 'eval', batchSize: this.#batchSize, epochs });
  }

  async close(): Promise<void> {
    await this.#open?.close?.();
    this.#open = undefined;
  }
}

/** The batches of an input until its data ends. */
export async function* untilEnd(input: BatchInput): AsyncGenerator<number, void, undefined> {
  for (;;) {
    let batch: number;
    try {
      batch = await input.next();
    } catch (error) {
      if (error instanceof MonolithError && error.code === 'ML_OUT_OF_RANGE') return;
      throw error;
    }
    yield batch;
  }
}

/** The batches until the signal is aborted: then ML_CANCELLED, also while one is waited for. */
export async function* untilAborted(
  what: string,
  batches: AsyncIterable<number>,
  signal: AbortSignal | undefined,
): AsyncGenerator<number, void, undefined> {
  const cancelled = () => new MonolithError('ML_CANCELLED', { what, reason: 'its signal was aborted' });
  if (signal?.aborted) throw cancelled();
  if (signal === undefined) return yield* batches;
  let stop: (error: MonolithError) => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = reject;
  });
  aborted.catch(() => undefined);
  const listener = () => stop(cancelled());
  signal.addEventListener('abort', listener);
  const iterator = batches[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await Promise.race([iterator.next(), aborted]);
      if (done === true) return;
      yield value;
      if (signal.aborted) throw cancelled();
    }
  } finally {
    signal.removeEventListener('abort', listener);
    // Not waited for: a source that hangs would hold up whoever gave up on it.
    void iterator.return?.()?.catch(() => undefined);
  }
}
