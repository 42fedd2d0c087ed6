/**
 * @file EntryDump: one row of an embedding table on disk (embedding_hash_table.proto).
 *
 * All rows of a table have the same shape, so a codec makes the message once with zeros and then only drops values in.
 * Decoding tries the same fixed layout first and falls back to a general parse, because other writers may order or pack
 * fields differently. 64-bit ids stay bigint.
 */
import { MonolithError } from '../base/errors.js';
import { type DumpSegment, dumpShapeOf, stateCountOf, weightCountOf } from './optimizer-dump.js';
import { ProtoReader } from './proto-reader.js';
import { ProtoWriter, putVarint, varintSize, WIRE_BYTES, WIRE_FIXED32 } from './proto-writer.js';

/** One row. `state` holds the optimizer state of each segment in turn: adagrad norm; ftrl norm, then zero. */
export interface EntryRow {
  id: bigint;
  readonly weights: Float32Array;
  readonly state: Float32Array;
  lastUpdateSec: number;
}

const FIELD_ID = 1;
const FIELD_NUM = 2;
const FIELD_OPT = 3;
const FIELD_TIME = 4;
const ID_AT = 1;
const FLOAT_FIELD_BYTES = 5;

/** Floats that follow each other in the message, one tag byte before each. */
interface Run {
  readonly at: number;
  readonly count: number;
  readonly ofState: boolean;
  readonly index: number;
}

export class EntryDumpCodec {
  readonly segments: readonly DumpSegment[];
  readonly weightCount: number;
  readonly stateCount: number;
  /** Upper bound of the size of an encoded row. */
  readonly maxBytes: number;
  readonly #template: Uint8Array;
  readonly #runs: readonly Run[];
  /** Position and value of every template byte that is neither id nor float, tags of floats included. */
  readonly #constantAt: Int32Array;
  readonly #constant: Uint8Array;

  constructor(segments: readonly DumpSegment[]) {
    this.segments = segments;
    this.weightCount = weightCountOf(segments);
    this.stateCount = stateCountOf(segments);
    const { template, runs } = layOut(segments, this.weightCount);
    this.#template = template;
    this.#runs = runs;
    this.maxBytes = template.length + 10;
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
    if (!this.#decodeFixed(payload, row)) this.#decodeAny(payload, row);
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

  #decodeAny(payload: Uint8Array, row: EntryRow): void {
    const reader = new ProtoReader(payload);
    let hasId = false;
    let weights = 0;
    const progress: Progress = { segment: 0, stateAt: 0 };
    row.lastUpdateSec = 0;
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === FIELD_ID) {
        row.id = reader.sfixed64();
        hasId = true;
      } else if (field === FIELD_NUM) weights = reader.floats(row.weights, weights);
      else if (field === FIELD_OPT) this.#decodeOptimizers(reader.message(), row, progress);
      else if (field === FIELD_TIME) row.lastUpdateSec = readTime(reader);
      else reader.skip();
    }
    if (!hasId) badRow('id', 'is missing');
    if (weights !== this.weightCount) badRow('num', `holds ${weights} values, expected ${this.weightCount}`);
    if (progress.segment !== this.segments.length) {
      badRow('opt', `holds ${progress.segment} optimizer dumps, expected ${this.segments.length}`);
    }
  }

  #decodeOptimizers(reader: ProtoReader, row: EntryRow, progress: Progress): void {
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field !== 1) reader.skip();
      else {
        const segment = this.segments[progress.segment];
        if (segment === undefined) badRow('opt', `holds more than ${this.segments.length} optimizer dumps`);
        progress.stateAt = decodeSingle(reader.message(), segment, row.state, progress.stateAt);
        progress.segment++;
      }
    }
  }
}

/** Where the general decoder is: next segment, first float of its state. */
interface Progress {
  segment: number;
  stateAt: number;
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
  const count = segment.stateDim ?? segment.dim;
  const filled = shape.parts.map((part) => stateAt + part.stateBlock * count);
  let seen = false;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field !== shape.field) badRow('opt', `dump field ${field} is not ${segment.optimizer}`);
    seen = true;
    const dump = reader.message();
    for (let inner = dump.next(); inner !== 0; inner = dump.next()) {
      const index = shape.parts.findIndex((part) => part.field === inner);
      if (index < 0) dump.skip();
      else {
        const limit = stateAt + (shape.parts[index]!.stateBlock + 1) * count;
        filled[index] = dump.floats(state, filled[index]!, limit);
      }
    }
  }
  if (!seen) badRow('opt', `dump is empty, expected ${segment.optimizer}`);
  shape.parts.forEach((part, index) => {
    const found = filled[index]! - stateAt - part.stateBlock * count;
    if (found !== count) badRow(`opt.${segment.optimizer}.${part.name}`, `holds ${found} values, expected ${count}`);
  });
  return stateAt + shape.parts.length * count;
}

/** The message with zeros in place of values, up to and including the tag of the time. */
function layOut(segments: readonly DumpSegment[], weightCount: number): { template: Uint8Array; runs: Run[] } {
  const runs: Run[] = [];
  const writer = new ProtoWriter();
  const addRun = (field: number, count: number, ofState: boolean, index: number): void => {
    runs.push({ at: writer.length, count, ofState, index });
    for (let i = 0; i < count; i++) writer.tag(field, WIRE_FIXED32).raw(new Uint8Array(4));
  };
  writer.sfixed64Field(FIELD_ID, 0n);
  addRun(FIELD_NUM, weightCount, false, 0);

  const dumpBytes = segments.map((s) => dumpShapeOf(s).parts.length * (s.stateDim ?? s.dim) * FLOAT_FIELD_BYTES);
  const singleBytes = dumpBytes.map((size) => 1 + varintSize(size) + size);
  writer.tag(FIELD_OPT, WIRE_BYTES).varint(singleBytes.reduce((sum, size) => sum + 1 + varintSize(size) + size, 0));
  let stateAt = 0;
  segments.forEach((segment, i) => {
    const shape = dumpShapeOf(segment);
    const count = segment.stateDim ?? segment.dim;
    writer.tag(1, WIRE_BYTES).varint(singleBytes[i]!).tag(shape.field, WIRE_BYTES).varint(dumpBytes[i]!);
    for (const part of shape.parts) addRun(part.field, count, true, stateAt + part.stateBlock * count);
    stateAt += shape.parts.length * count;
  });
  writer.tag(FIELD_TIME, 0);
  return { template: writer.finish(), runs };
}

function constantPositions(length: number, runs: readonly Run[]): number[] {
  const isValue = new Uint8Array(length);
  isValue.fill(1, ID_AT, ID_AT + 8);
  for (const run of runs) {
    for (let i = 0; i < run.count; i++) {
      const at = run.at + i * FLOAT_FIELD_BYTES;
      isValue.fill(1, at + 1, at + FLOAT_FIELD_BYTES);
    }
  }
  return Array.from(isValue.keys()).filter((at) => isValue[at] === 0);
}
