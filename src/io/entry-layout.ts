/** @file Where values stand in the EntryDump messages of a table, whose rows all have the same shape. */
import { type DumpSegment, dumpShapeOf, floatsOf, segmentStateCount, weightCountOf } from './optimizer-dump.js';
import { ProtoWriter, varintSize, WIRE_BYTES, WIRE_FIXED32 } from './proto-writer.js';

export const FIELD_ID = 1;
export const FIELD_NUM = 2;
export const FIELD_OPT = 3;
export const FIELD_TIME = 4;
export const ID_AT = 1;
export const FLOAT_FIELD_BYTES = 5;

/** Floats that follow each other in the message, one tag byte before each. */
export interface EntryRun {
  /** Byte of the first tag. */
  readonly at: number;
  readonly count: number;
  readonly ofState: boolean;
  /** First of them in the weights or in the state. */
  readonly index: number;
}

/** The message that all rows of a table have in common. */
export interface EntryLayout {
  /** With zeros in place of values, up to and including the tag of the time. */
  readonly template: Uint8Array;
  readonly runs: readonly EntryRun[];
  /** True when every row has a message of the same size, but for the time. */
  readonly isFixed: boolean;
}

/** Whether messages of rows with it differ in size. */
export function hasVarint(segment: DumpSegment): boolean {
  return dumpShapeOf(segment).parts.some((part) => part.kind === 'int64');
}

export function entryLayout(segments: readonly DumpSegment[]): EntryLayout {
  const runs: EntryRun[] = [];
  const writer = new ProtoWriter();
  const addRun = (field: number, count: number, ofState: boolean, index: number): void => {
    runs.push({ at: writer.length, count, ofState, index });
    for (let i = 0; i < count; i++) writer.tag(field, WIRE_FIXED32).raw(new Uint8Array(4));
  };
  writer.sfixed64Field(FIELD_ID, 0n);
  addRun(FIELD_NUM, weightCountOf(segments), false, 0);

  const partsOf = (segment: DumpSegment) =>
    dumpShapeOf(segment).parts.map((part) => ({ part, range: floatsOf(segment, part) }));
  const dumpBytes = segments.map((segment) =>
    partsOf(segment).reduce((sum, { range }) => sum + (range === null ? 2 : range.count * FLOAT_FIELD_BYTES), 0),
  );
  const singleBytes = dumpBytes.map((size, i) =>
    dumpShapeOf(segments[i]!).field === null ? 0 : 1 + varintSize(size) + size,
  );
  writer
    .tag(FIELD_OPT, WIRE_BYTES)
    .varint(singleBytes.reduce((sum, size) => sum + (size === 0 ? 0 : 1 + varintSize(size) + size), 0));
  let stateAt = 0;
  segments.forEach((segment, i) => {
    const { field } = dumpShapeOf(segment);
    if (field !== null) {
      writer.tag(1, WIRE_BYTES).varint(singleBytes[i]!).tag(field, WIRE_BYTES).varint(dumpBytes[i]!);
      for (const { part, range } of partsOf(segment)) {
        if (range !== null) addRun(part.field, range.count, true, stateAt + range.at);
        else writer.int64Field(part.field, 0);
      }
    }
    stateAt += segmentStateCount(segment);
  });
  writer.tag(FIELD_TIME, 0);
  return { template: writer.finish(), runs, isFixed: !segments.some(hasVarint) };
}

/** Bytes of a template that are neither id nor float, tags of floats included. */
export function constantPositions(length: number, runs: readonly EntryRun[]): number[] {
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
