/**
 * @file EntryDump: one row of an embedding table on disk (embedding_hash_table.proto).
 *
 * All rows of a table have the same shape, so a codec makes the message once with zeros and then only drops values in;
 * only an optimizer that dumps a varint (batch_softmax) has its message built anew for each row. Decoding tries the
 * same fixed layout first and falls back to a general parse, because other writers may order or pack fields
 * differently. 64-bit ids stay bigint.
 */
import { MonolithError } from '../base/errors.js';
import {
  constantPositions,
  type EntryRun,
  entryLayout,
  FIELD_ID,
  FIELD_NUM,
  FIELD_OPT,
  FIELD_TIME,
  FLOAT_FIELD_BYTES,
  hasVarint,
  ID_AT,
} from './entry-layout.js';
import {
  type DumpSegment,
  dumpShapeOf,
  floatsOf,
  segmentStateCount,
  stateCountOf,
  weightCountOf,
  wordOf,
} from './optimizer-dump.js';
import { ProtoReader } from './proto-reader.js';
import { ProtoWriter, putVarint } from './proto-writer.js';
import { putWords, takeWords } from './state-words.js';

/** One row. `state` holds the words of optimizer state of each segment in turn: adagrad norm; ftrl norm, then zero. */
export interface EntryRow {
  id: bigint;
  readonly weights: Float32Array;
  readonly state: Float32Array;
  lastUpdateSec: number;
}

export interface DecodeOptions {
  /** For rows that keep no state: the optimizer dumps may be anything. */
  readonly weightsOnly?: boolean;
}

export class EntryDumpCodec {
  readonly segments: readonly DumpSegment[];
  readonly weightCount: number;
  readonly stateCount: number;
  /** Upper bound of the size of an encoded row. */
  readonly maxBytes: number;
  readonly #template: Uint8Array;
  readonly #runs: readonly EntryRun[];
  /** Position and value of every template byte that is neither id nor float, tags of floats included. */
  readonly #constantAt: Int32Array;
  readonly #constant: Uint8Array;
  /** True when every row has a message of the same size, but for the time. */
  readonly #isFixed: boolean;

  constructor(segments: readonly DumpSegment[]) {
    this.segments = segments;
    this.weightCount = weightCountOf(segments);
    this.stateCount = stateCountOf(segments);
    const { template, runs, isFixed } = entryLayout(segments);
    this.#template = template;
    this.#runs = runs;
    this.#isFixed = isFixed;
    const varints = segments.filter(hasVarint);
    // A varint in a dump may take nine bytes more than in the template, and lengthen the three sizes around it.
    this.maxBytes = template.length + 10 + 16 * varints.length;
    const constantAt = constantPositions(template.length, runs);
    this.#constantAt = Int32Array.from(constantAt);
    this.#constant = Uint8Array.from(constantAt, (at) => template[at]!);
  }

  /** A row of the right shape, for `decode` to fill. */
  makeRow(): EntryRow {
    return {
      id: 0n,
      weights: new Float32Array(this.weightCount),
      state: new Float32Array(this.stateCount),
      lastUpdateSec: 0,
    };
  }

  /** Writes `row` from `bytes[at]`, where `maxBytes` must be free, and returns its size. `view` is over `bytes`. */
  encode(row: EntryRow, bytes: Uint8Array, view: DataView, at: number): number {
    this.#checkShape(row);
    if (!this.#isFixed) return encodeAny(this.segments, row, bytes, at);
    bytes.set(this.#template, at);
    view.setBigInt64(at + ID_AT, row.id, true);
    for (const run of this.#runs) {
      const values = run.ofState ? row.state : row.weights;
      let position = at + run.at + 1;
      for (let i = run.index; i < run.index + run.count; i++, position += FLOAT_FIELD_BYTES) {
        view.setFloat32(position, values[i]!, true);
      }
    }
    return putVarint(bytes, at + this.#template.length, row.lastUpdateSec) - at;
  }

  /** Fills `row`, made by `makeRow`, from a message. ML_PROTO when the message is not a row of this shape. */
  decode(payload: Uint8Array, row: EntryRow): void {
    const weights = this.decodeSome(payload, row);
    if (weights !== this.weightCount) badRow('num', `holds ${weights} values, expected ${this.weightCount}`);
  }

  /** As `decode`, but the message may hold fewer weights; returns how many of the first ones it has. */
  decodeSome(payload: Uint8Array, row: EntryRow, options: DecodeOptions = {}): number {
    if (this.#decodeFixed(payload, row)) return this.weightCount;
    return this.#decodeAny(payload, row, options.weightsOnly ?? false);
  }

  #checkShape(row: EntryRow): void {
    const { weights, state, lastUpdateSec } = row;
    if (weights.length !== this.weightCount) badRow('num', `${weights.length} weights, expected ${this.weightCount}`);
    if (state.length !== this.stateCount) badRow('opt', `${state.length} state values, expected ${this.stateCount}`);
    if (!Number.isSafeInteger(lastUpdateSec) || lastUpdateSec < 0) badRow('last_update_ts_sec', `${lastUpdateSec}`);
  }

  /** True when the message has exactly the layout `encode` writes. */
  #decodeFixed(payload: Uint8Array, row: EntryRow): boolean {
    const timeAt = this.#template.length;
    if (!this.#isFixed) return false;
    if (payload.length <= timeAt || payload.length > timeAt + 6) return false;
    const constantAt = this.#constantAt;
    const constant = this.#constant;
    for (let i = 0; i < constantAt.length; i++) {
      if (payload[constantAt[i]!] !== constant[i]) return false;
    }
    let time = 0;
    let scale = 1;
    for (let at = timeAt; at < payload.length; at++, scale *= 0x80) {
      const byte = payload[at]!;
      if (byte >= 0x80 !== at < payload.length - 1) return false;
      time += (byte & 0x7f) * scale;
    }
    const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
    row.id = view.getBigInt64(ID_AT, true);
    row.lastUpdateSec = time;
    for (const run of this.#runs) {
      const values = run.ofState ? row.state : row.weights;
      let position = run.at + 1;
      for (let i = run.index; i < run.index + run.count; i++, position += FLOAT_FIELD_BYTES) {
        values[i] = view.getFloat32(position, true);
      }
    }
    return true;
  }

  #decodeAny(payload: Uint8Array, row: EntryRow, weightsOnly: boolean): number {
    const reader = new ProtoReader(payload);
    let hasId = false;
    let weights = 0;
    const progress: Progress = { segment: 0, stateAt: 0, dumps: 0 };
    row.lastUpdateSec = 0;
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === FIELD_ID) {
        row.id = reader.sfixed64();
        hasId = true;
      } else if (field === FIELD_NUM) weights = reader.floats(row.weights, weights);
      else if (field === FIELD_OPT && !weightsOnly) this.#decodeOptimizers(reader.message(), row, progress);
      else if (field === FIELD_TIME) row.lastUpdateSec = readTime(reader);
      else reader.skip();
    }
    if (!hasId) badRow('id', 'is missing');
    if (weightsOnly) return weights;
    this.#passSilent(progress);
    if (progress.segment !== this.segments.length) {
      badRow('opt', `holds ${progress.dumps} optimizer dumps, expected ${this.#dumpCount}`);
    }
    return weights;
  }

  get #dumpCount(): number {
    return this.segments.filter((segment) => dumpShapeOf(segment).field !== null).length;
  }

  /** Moves on to the next segment that leaves a dump. */
  #passSilent(progress: Progress): void {
    for (;;) {
      const segment = this.segments[progress.segment];
      if (segment === undefined || dumpShapeOf(segment).field !== null) return;
      progress.segment++;
      progress.stateAt += segmentStateCount(segment);
    }
  }

  #decodeOptimizers(reader: ProtoReader, row: EntryRow, progress: Progress): void {
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field !== 1) reader.skip();
      else {
        this.#passSilent(progress);
        const segment = this.segments[progress.segment];
        if (segment === undefined) badRow('opt', `holds more than ${this.#dumpCount} optimizer dumps`);
        progress.stateAt = decodeSingle(reader.message(), segment, row.state, progress.stateAt);
        progress.segment++;
        progress.dumps++;
      }
    }
  }
}

/** Where the general decoder is: next segment, first float of its state. */
interface Progress {
  segment: number;
  stateAt: number;
  dumps: number;
}

function badRow(field: string, reason: string): never {
  throw new MonolithError('ML_PROTO', { field: `EntryDump.${field}`, offset: 0, reason });
}

function readTime(reader: ProtoReader): number {
  const time = Number(reader.int64());
  if (!Number.isSafeInteger(time) || time < 0) badRow('last_update_ts_sec', `${time} is out of range`);
  return time;
}

/** Reads one SingleOptimizerDump into the state of its segment; returns where the next segment's state begins. */
function decodeSingle(reader: ProtoReader, segment: DumpSegment, state: Float32Array, stateAt: number): number {
  const shape = dumpShapeOf(segment);
  const counts = shape.parts.map(() => 0);
  let seen = false;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field !== shape.field) badRow('opt', `dump field ${field} is not ${segment.optimizer}`);
    seen = true;
    const dump = reader.message();
    for (let inner = dump.next(); inner !== 0; inner = dump.next()) {
      const index = shape.parts.findIndex((part) => part.field === inner);
      const part = shape.parts[index];
      if (part === undefined || part.kind === 'unused') {
        dump.skip();
        continue;
      }
      const range = floatsOf(segment, part);
      if (range !== null) {
        const begin = stateAt + range.at;
        // A single value may be set again, the last one counts; repeated ones add up.
        const from = part.kind === 'float' ? begin : begin + counts[index]!;
        counts[index] = dump.floats(state, from, begin + range.count) - begin;
      } else if (part.kind === 'int64') {
        putWords(state, stateAt + wordOf(segment, part.scalar), dump.int64());
        counts[index] = 1;
      }
    }
  }
  if (!seen) badRow('opt', `dump is empty, expected ${segment.optimizer}`);
  shape.parts.forEach((part, index) => {
    if (part.kind === 'unused') return;
    const wanted = floatsOf(segment, part)?.count ?? 1;
    const found = counts[index]!;
    if (found !== wanted) badRow(`opt.${segment.optimizer}.${part.name}`, `holds ${found} values, expected ${wanted}`);
  });
  return stateAt + segmentStateCount(segment);
}

/** A row field by field, for shapes whose messages differ in size. */
function encodeAny(segments: readonly DumpSegment[], row: EntryRow, bytes: Uint8Array, at: number): number {
  const writer = new ProtoWriter(1024);
  writer.sfixed64Field(FIELD_ID, row.id);
  for (const weight of row.weights) writer.floatField(FIELD_NUM, weight);
  const dumps = new ProtoWriter();
  let stateAt = 0;
  for (const segment of segments) {
    const { field, parts } = dumpShapeOf(segment);
    if (field !== null) {
      const dump = new ProtoWriter();
      for (const part of parts) {
        const range = floatsOf(segment, part);
        const values = range === null ? [] : row.state.subarray(stateAt + range.at, stateAt + range.at + range.count);
        for (const value of values) dump.floatField(part.field, value);
        if (part.kind === 'unused') dump.int64Field(part.field, 0);
        if (part.kind === 'int64')
          dump.int64Field(part.field, takeWords(row.state, stateAt + wordOf(segment, part.scalar)));
      }
      dumps.bytesField(1, new ProtoWriter().bytesField(field, dump.finish()).finish());
    }
    stateAt += segmentStateCount(segment);
  }
  writer.bytesField(FIELD_OPT, dumps.finish()).int64Field(FIELD_TIME, row.lastUpdateSec);
  const message = writer.finish();
  bytes.set(message, at);
  return message.length;
}
