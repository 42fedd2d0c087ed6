/**
 * @file What a row of a table looks like when nothing but the row itself says so.
 *
 * An EntryDump holds all weights in one list and a dump per segment. Dumps of most optimizers are as long as their
 * segment; those that are not (sgd keeps nothing) leave open where one segment ends and the next begins.
 */
import { MonolithError } from '../base/errors.js';
import { type DumpedOptimizer, type DumpSegment, OPTIMIZER_DUMPS } from '../io/optimizer-dump.js';
import { ProtoReader } from '../io/proto-reader.js';
import { WIRE_FIXED32 } from '../io/proto-writer.js';

export interface ShownSegment {
  /** Null when the rows do not say. */
  readonly dim: number | null;
  /** Null when the rows keep nothing of an optimizer. */
  readonly optimizer: string | null;
}

export interface RowShape {
  /** Good to decode rows with: sums are right, and so is every length of state. */
  readonly segments: readonly DumpSegment[];
  readonly shown: readonly ShownSegment[];
  /** False when it is open where one segment ends and the next begins. */
  readonly isCertain: boolean;
}

export function knownShape(segments: readonly DumpSegment[]): RowShape {
  return { segments, shown: segments.map(({ dim, optimizer }) => ({ dim, optimizer })), isCertain: true };
}

interface Dump {
  readonly optimizer: DumpedOptimizer;
  /** Floats of its first list; null for an optimizer without lists. */
  readonly length: number | null;
}

/** The shape of the row in `payload`; ML_PROTO when it is not one. */
export function inferShape(payload: Uint8Array): RowShape {
  const { weights, dumps } = measure(payload);
  const known = dumps.reduce((sum, dump) => sum + (dump.length ?? 0), 0);
  const open = dumps.filter((dump) => dump.length === null).length;
  const rest = weights - known;
  if (rest < open) bad('opt', `keeps state for ${known + open} floats or more, the row has ${weights}`);
  if (dumps.length === 0) return silent(weights);
  const isCertain = rest === 0 || open === 1 || rest === open;
  let left = rest;
  const segments = dumps.map(({ optimizer, length }): DumpSegment => {
    if (length !== null) return { dim: length, optimizer };
    const dim = rest === open ? 1 : left;
    left -= dim;
    return { dim, optimizer };
  });
  const shown = dumps.map(({ optimizer, length }, i) => {
    return { dim: length ?? (isCertain ? segments[i]!.dim : null), optimizer };
  });
  if (open > 0 || rest === 0) return { segments, shown, isCertain };
  // Floats that no dump speaks of: a segment whose optimizer keeps nothing, or state that is kept compressed.
  return {
    segments: [...segments, ...silent(rest).segments],
    shown: shown.map(({ optimizer }) => ({ dim: null, optimizer })),
    isCertain: false,
  };
}

/** Weights without any dump: movingAverage is the optimizer that leaves none. */
function silent(dim: number): RowShape {
  return { segments: [{ dim, optimizer: 'movingAverage' }], shown: [{ dim, optimizer: null }], isCertain: true };
}

function measure(payload: Uint8Array): { weights: number; dumps: Dump[] } {
  const reader = new ProtoReader(payload);
  let weights = 0;
  const dumps: Dump[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) weights += floatCount(reader);
    else if (field === 3) {
      const optimizers = reader.message();
      for (let inner = optimizers.next(); inner !== 0; inner = optimizers.next()) {
        if (inner === 1) dumps.push(measureDump(optimizers.message()));
        else optimizers.skip();
      }
    } else reader.skip();
  }
  return { weights, dumps };
}

function measureDump(reader: ProtoReader): Dump {
  const field = reader.next();
  const names = Object.keys(OPTIMIZER_DUMPS) as DumpedOptimizer[];
  const optimizer = names.find((name) => OPTIMIZER_DUMPS[name].field === field);
  if (optimizer === undefined) return bad('opt', `dump field ${field} is of no known optimizer`);
  const lists = OPTIMIZER_DUMPS[optimizer].parts.filter((part) => part.kind === 'floats').map((part) => part.field);
  const dump = reader.message();
  let length = 0;
  for (let inner = dump.next(); inner !== 0; inner = dump.next()) {
    if (inner === lists[0]) length += floatCount(dump);
    else dump.skip();
  }
  return { optimizer, length: lists.length === 0 ? null : length };
}

/** Floats in one occurrence of a repeated field, packed or not. */
function floatCount(reader: ProtoReader): number {
  if (reader.wire !== WIRE_FIXED32) return Math.floor(reader.payload().length / 4);
  reader.skip();
  return 1;
}

function bad(field: string, reason: string): never {
  throw new MonolithError('ML_PROTO', { field: `EntryDump.${field}`, offset: 0, reason });
}
