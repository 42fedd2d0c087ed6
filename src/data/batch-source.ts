/**
 * @file Where an estimator reads from: something that opens batches in the memory of a session.
 *
 * Arrays, iterables and files become one of these; a session and its memory are made anew for every training, so a
 * source is opened once for each, and says nothing of memory itself.
 */
import type { Positioned } from '../base/input-state.js';
import type { Mode } from '../graph/mode.js';
import type { Session } from '../runtime/session/session.js';
import type { InputBegin } from './input-place.js';

/** What a source is told when it is opened. */
export interface OpenBatches {
  /** `predict` needs no labels. */
  readonly mode: Mode;
  /** Examples of a batch; the last one of a pass may have fewer. */
  readonly batchSize: number;
  /** Passes over the data before the input ends; Infinity begins again and again. */
  readonly epochs: number;
}

/** Batches in the memory of a session, one after the other. */
export interface BatchInput<Row = unknown> extends Positioned {
  /** Address of the next batch; ML_OUT_OF_RANGE when the passes are over. */
  next(): number | Promise<number>;
  /** How many addresses that `next` returned stay good at once. Default: 1. */
  readonly batchesAhead?: number;
  /** Batches of a pass, where that is known. */
  readonly batchCount?: number;
  /** Where `restoreState` has it begin, for one that counts passes. */
  readonly begin?: InputBegin | undefined;
  /** The rows a batch was made of, as they were given, while its address is good; nothing where there are none. */
  rowsOf?(batch: number): readonly Row[] | undefined;
  /** Gives back what the input opened. The session may be closed already. */
  close?(): void | Promise<void>;
}

/** What `train`, `evaluate` and `predict` of an estimator read. */
export interface BatchSource<Row = unknown> {
  /** Whether the data can be read only once, as from a stream: then there is one pass, however many are asked for. */
  readonly once?: boolean;
  /** Whether what it opens knows its `batchCount`. */
  readonly counted?: boolean;
  open(session: Session, options: OpenBatches): BatchInput<Row> | Promise<BatchInput<Row>>;
}

/** Whether it is a source, of this package or of another. */
export function isBatchSource(data: unknown): data is BatchSource {
  return typeof data === 'object' && data !== null && typeof (data as Partial<BatchSource>).open === 'function';
}
