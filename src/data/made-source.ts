/** @file A source of batches that are made on this thread, from rows or columns that programs hand over. */
import { MonolithError } from '../base/errors.js';
import type { InputState } from '../base/input-state.js';
import { bytesFor, valueCountsOf } from '../memory/batch.js';
import type { Session } from '../runtime/session/session.js';
import type { SessionCore } from '../runtime/session/session-core.js';
import { coreOf } from '../runtime/session/session-handle.js';
import type { BatchMaker, MadeBatch } from './batch-pass.js';
import { BatchPlaces } from './batch-places.js';
import type { BatchInput, BatchSource, OpenBatches } from './batch-source.js';
import { AT_START, batchDigest, beginOf, type InputBegin, type InputIdentity, placeState } from './input-place.js';
import { endOfData, PlacedBatches } from './placed-batches.js';

/** Bytes of batches that are made once for several passes, at most; and no more than this share of the free memory. */
const STAY_BYTES = 256 << 20;
const STAY_SHARE = 4;
/** Batches differ in size where features have many ids: those that come may be larger than the first. */
const STAY_SLACK = 1.5;

/** Makes what passes come from; asked for at each opening, with the size of a batch. */
export type MakeBatches<Row> = (options: OpenBatches) => BatchMaker<Row>;

export class MadeSource<Row = unknown> implements BatchSource<Row> {
  readonly once: boolean;
  readonly counted: boolean;
  readonly #make: MakeBatches<Row>;

  constructor(make: MakeBatches<Row>, { once = false, counted = false }: Pick<BatchSource, 'once' | 'counted'> = {}) {
    this.#make = make;
    this.once = once;
    this.counted = counted;
  }

  /** Makes the first batch already, so that data that does not fit is refused before anything is trained on. */
  async open(session: Session, options: OpenBatches): Promise<BatchInput<Row>> {
    const core = coreOf(session);
    const maker = this.#make(options);
    const pass = maker.pass(0);
    const first = await pass.next();
    if (first === undefined)
      return {
        next: () => {
          throw endOfData();
        },
      };
    const { batchCount } = maker;
    const stay = options.epochs > 1 && staysIn(core, maker, first);
    const keepRows = options.mode === 'predict';
    const epochs = stay ? 1 : options.epochs;
    // Only a training goes on.
    const data = options.mode === 'train' ? batchDigest(first.data) : 0;
    const identity = { data, epochs: options.epochs };
    const placed = new PlacedBatches<Row>(core, { maker, pass, first, epochs, stay, keepRows, identity });
    if (stay) return new RepeatedBatches(placed, identity, batchCount!);
    return batchCount === undefined ? placed : Object.assign(placed, { batchCount });
  }
}

/** Whether all batches of a pass fit the memory beside everything else. */
function staysIn(core: SessionCore, { batchCount }: BatchMaker, { data }: MadeBatch): boolean {
  if (batchCount === undefined) return false;
  const { schema } = core;
  const places = BatchPlaces.of(core);
  const bytes = places.sizeFor(bytesFor(schema, data.rows, valueCountsOf(schema, data.feeds)));
  return batchCount * bytes * STAY_SLACK <= Math.min(STAY_BYTES, places.freeBytes / STAY_SHARE);
}

/** Goes over batches that stay where they are, pass after pass. */
class RepeatedBatches<Row> implements BatchInput<Row> {
  readonly batchesAhead = Number.POSITIVE_INFINITY;
  readonly batchCount: number;
  readonly #first: PlacedBatches<Row>;
  readonly #identity: InputIdentity;
  readonly #addresses: number[] = [];
  #taken = 0;
  #begin = AT_START;

  constructor(first: PlacedBatches<Row>, identity: InputIdentity, batchCount: number) {
    this.#first = first;
    this.#identity = identity;
    this.batchCount = batchCount;
  }

  get begin(): InputBegin {
    return this.#begin;
  }

  next(): number {
    if (this.#taken >= this.#count) throw endOfData();
    const index = this.#taken++ % this.batchCount;
    while (this.#addresses.length <= index) this.#addresses.push(this.#made());
    return this.#addresses[index]!;
  }

  get #count(): number {
    return this.#identity.epochs * this.batchCount;
  }

  #made(): number {
    const made = this.#first.next();
    // Data that is in memory as a whole gives its batches at once, which `batchCount` says.
    if (typeof made === 'number') return made;
    throw new MonolithError('ML_INTERNAL', { reason: 'a batch at hand had to be waited for' });
  }

  saveState(unused: number): InputState {
    const next = this.#taken - unused;
    const pass = Math.floor(next / this.batchCount);
    return placeState(this.#identity, { pass, batch: next % this.batchCount });
  }

  restoreState(state: InputState): void {
    const begin = beginOf(state, this.#identity);
    const taken = begin.pass * this.batchCount + begin.batch;
    const isOver = taken >= this.#count;
    this.#taken = isOver ? 0 : taken;
    this.#begin = isOver ? AT_START : begin;
  }

  rowsOf(batch: number): readonly Row[] | undefined {
    return this.#first.rowsOf(batch);
  }

  close(): Promise<void> {
    return this.#first.close();
  }
}
