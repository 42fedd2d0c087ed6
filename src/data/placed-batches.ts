/**
 * @file An input that makes its batches on this thread: it writes them into the memory of a session, some ahead of
 * their use, while the threads of the session are at work.
 */
import { MonolithError } from '../base/errors.js';
import type { InputState } from '../base/input-state.js';
import { bytesFor, valueCountsOf, writeBatch } from '../memory/batch.js';
import type { SessionCore } from '../runtime/session/session-core.js';
import type { BatchMaker, BatchPass, MadeBatch } from './batch-pass.js';
import { BatchPlaces } from './batch-places.js';
import type { BatchInput } from './batch-source.js';
import { AT_START, type BatchPlace, beginOf, type InputBegin, type InputIdentity, placeState } from './input-place.js';

/** Bytes of batches that wait, and as many again of those in use. */
const AHEAD_BYTES = 16 << 20;
const AHEAD_MAX = 63;
/** More batches than are ever taken and not trained on. */
const UNUSED_MAX = 1024;

export interface PlacedOptions<Row> {
  readonly maker: BatchMaker<Row>;
  readonly epochs: number;
  /** The pass that `first` was taken from. */
  readonly pass: BatchPass<Row>;
  readonly first: MadeBatch<Row>;
  /** Whether each batch keeps its place, so that all addresses stay good. Else places are used again. */
  readonly stay: boolean;
  readonly keepRows: boolean;
  readonly identity: InputIdentity;
}

/** A pass that was begun: the batch that was made first of it, by its number in all of them and in the pass. */
interface Begun extends BatchPlace {
  readonly made: number;
}

export class PlacedBatches<Row = unknown> implements BatchInput<Row> {
  readonly batchesAhead: number;
  readonly #core: SessionCore;
  readonly #places: BatchPlaces;
  readonly #options: PlacedOptions<Row>;
  readonly #ring: { readonly at: number; readonly bytes: number }[] = [];
  readonly #rows = new Map<number, readonly Row[]>();
  readonly #ready: number[] = [];
  #pass: BatchPass<Row>;
  /** The number of this pass. */
  #number = 0;
  /** Batches that this pass gave, those included that were left out. */
  #passed = 0;
  /** The passes of which batches were made or handed out last, the oldest first. */
  #begun: Begun[] = [{ pass: 0, batch: 0, made: 0 }];
  #begin = AT_START;
  #filled = 0;
  #handed = 0;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #coming: Promise<void> | undefined;
  #scheduled: NodeJS.Immediate | undefined;

  constructor(core: SessionCore, options: PlacedOptions<Row>) {
    this.#core = core;
    this.#places = BatchPlaces.of(core);
    this.#options = options;
    this.#pass = options.pass;
    const ahead = Math.min(Math.max(Math.floor(AHEAD_BYTES / this.#placeSize(options.first)), 2), AHEAD_MAX);
    this.batchesAhead = options.stay ? Number.POSITIVE_INFINITY : ahead;
    this.#put(options.first);
  }

  next(): number | Promise<number> {
    for (;;) {
      const at = this.#ready.shift();
      if (at !== undefined) {
        this.#handed++;
        this.#fillLater();
        return at;
      }
      if (this.#coming !== undefined) return this.#coming.then(() => this.next());
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#ended) throw endOfData();
      this.#fill();
    }
  }

  get begin(): InputBegin {
    return this.#begin;
  }

  saveState(unused: number): InputState {
    const next = this.#handed - unused;
    const last = this.#begun.findLastIndex(({ made }) => made <= next);
    this.#begun = this.#begun.slice(Math.max(0, last));
    const { pass, batch, made } = this.#begun[0]!;
    return placeState(this.#options.identity, { pass, batch: batch + next - made });
  }

  /** Leaves out what was trained on; where nothing would be left, all of it is read again. */
  async restoreState(state: InputState): Promise<void> {
    const { identity, maker } = this.#options;
    this.#begin = beginOf(state, identity);
    const { pass, batch } = this.#begin;
    if (pass === 0 && batch === 0 && this.#filled === 1) return;
    // Of the first pass a batch is made already.
    const isOpen = pass === 0 && batch > 0 && this.#filled === 1;
    if (!isOpen) await this.#open(pass);
    await this.#pass.skip(isOpen ? batch - 1 : batch);
    this.#passed = batch;
    this.#ready.length = 0;
    this.#begun = [{ pass, batch, made: this.#filled }];
    this.#handed = this.#filled;
    while (this.#ready.length === 0 && !this.#ended) this.#take(await this.#pass.next());
    if (!this.#ended || maker.once) return;
    this.#begin = AT_START;
    this.#ended = false;
    await this.#open(0);
  }

  async #open(pass: number): Promise<void> {
    await this.#pass.close?.();
    this.#begunWith(pass);
    this.#pass = this.#options.maker.pass(pass);
  }

  #begunWith(pass: number): void {
    this.#number = pass;
    this.#passed = 0;
    this.#begun.push({ pass, batch: 0, made: this.#filled });
    const old = this.#begun.findLastIndex(({ made }) => made < this.#handed - UNUSED_MAX);
    if (old > 0) this.#begun.splice(0, old);
  }

  rowsOf(batch: number): readonly Row[] | undefined {
    return this.#rows.get(batch);
  }

  async close(): Promise<void> {
    clearImmediate(this.#scheduled);
    this.#ended = true;
    for (const { at, bytes } of this.#ring.splice(0)) this.#places.give(at, bytes);
    this.#ready.length = 0;
    this.#rows.clear();
    const left = this.#pass.close?.();
    // Rows that are waited for may never come: who reads them is told, and nobody waits for the answer.
    if (this.#coming === undefined) await left;
    else Promise.resolve(left).catch(() => undefined);
  }

  /** Whether one more may be made: its place is free once enough addresses were handed out after it. */
  get #hasRoom(): boolean {
    return this.#filled <= this.#handed + Math.min(this.batchesAhead, AHEAD_MAX);
  }

  #fillLater(): void {
    if (this.#scheduled !== undefined || this.#ended || this.#coming !== undefined || !this.#hasRoom) return;
    this.#scheduled = setImmediate(() => {
      this.#scheduled = undefined;
      if (this.#ended || this.#coming !== undefined || this.#failure !== undefined) return;
      this.#fill();
      this.#fillLater();
    });
  }

  /** Makes one batch, or has one come. An error is told when it is its turn. */
  #fill(): void {
    try {
      const made = this.#pass.next();
      if (!(made instanceof Promise)) {
        this.#take(made);
        return;
      }
      this.#coming = made
        .then((batch) => this.#take(batch))
        .catch((error: unknown) => this.#fail(error))
        .finally(() => {
          this.#coming = undefined;
          this.#fillLater();
        });
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#failure = { error };
  }

  #take(made: MadeBatch<Row> | undefined): void {
    // It was closed while a batch came.
    if (this.#ended) return;
    if (made !== undefined) {
      this.#put(made);
      return;
    }
    const { maker, epochs } = this.#options;
    // A pass without a batch would be followed by another one for ever.
    this.#ended = this.#number + 1 >= epochs || this.#passed === 0 || maker.once;
    if (this.#ended) return;
    this.#begunWith(this.#number + 1);
    this.#pass = maker.pass(this.#number);
  }

  #put(made: MadeBatch<Row>): void {
    const { views, schema } = this.#core;
    const at = this.#placeFor(this.#filled, this.#placeSize(made));
    writeBatch(views, at, schema, made.data);
    this.#filled++;
    this.#passed++;
    if (this.#options.keepRows && made.rows !== undefined) this.#rows.set(at, made.rows);
    this.#ready.push(at);
  }

  #placeFor(batch: number, bytes: number): number {
    const index = this.#options.stay ? batch : batch % (2 * this.batchesAhead + 1);
    const old = this.#ring[index];
    if (old !== undefined && old.bytes >= bytes) return old.at;
    if (old !== undefined) {
      this.#rows.delete(old.at);
      this.#places.give(old.at, old.bytes);
    }
    const at = this.#places.take(bytes);
    this.#ring[index] = { at, bytes };
    return at;
  }

  #placeSize({ data }: MadeBatch<Row>): number {
    const { schema } = this.#core;
    return this.#places.sizeFor(bytesFor(schema, data.rows, valueCountsOf(schema, data.feeds)));
  }
}

export function endOfData(): MonolithError {
  return new MonolithError('ML_OUT_OF_RANGE', { source: 'the data' });
}
