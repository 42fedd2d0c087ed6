/**
 * @file What stands before and behind the updates of steps, as update-gate.ts does for calls: the admission filter of a
 * table and the set of touched pairs, as addresses in the session's memory.
 */
import { misfit } from '../../graph/graph.js';
import { GATE, GATE_WORDS, gateParts } from '../../memory/bank-layout.js';
import { TOUCHED_SCRATCH_BYTES } from '../../memory/touched-layout.js';
import type { LoweringContext } from '../../runtime/compile/lowering.js';
import type { AdmissionFilter } from '../admission/filter-memory.js';
import { HashFilter } from '../admission/hash-filter.js';
import { TouchedPairSet } from '../table/touched-pair-set.js';
import { type GateOptions, keepsIdsOut, type TouchedKeys } from '../table/update-gate.js';

export interface StepGate {
  /** Addresses; an id has a threshold by its feature slot. */
  readonly filter?: { readonly pointer: number; readonly thresholds: number };
  readonly touched?: { readonly pointer: number; readonly tableIndex: number };
}

/** The gate of a table in programs of this session. ML_GRAPH where the threads of a pool could not reach it. */
export function stepGate(
  { environment }: LoweringContext,
  name: string,
  { filter, touchedKeys }: GateOptions,
): StepGate {
  const { buffer } = environment.views;
  return {
    ...(keepsIdsOut(filter) ? { filter: filterAddresses(name, filter!, buffer) } : {}),
    ...(touchedKeys === undefined ? {} : { touched: touchedAddresses(name, touchedKeys, buffer) }),
  };
}

function filterAddresses(name: string, filter: AdmissionFilter, buffer: SharedArrayBuffer) {
  if (!(filter instanceof HashFilter)) throw misfit(name, `steps cannot ask a ${filter.type}: use a hash filter`);
  if (filter.buffer !== buffer) throw misfit(name, "its admission filter is not in the session's memory");
  const { pointer, thresholds } = filter.handle;
  return { pointer, thresholds };
}

function touchedAddresses(name: string, { set, tableIndex }: TouchedKeys, buffer: SharedArrayBuffer) {
  if (!(set instanceof TouchedPairSet)) throw misfit(name, 'steps record touched ids in a TouchedPairSet only');
  if (set.buffer !== buffer) throw misfit(name, "its set of touched pairs is not in the session's memory");
  return { pointer: set.handle.pointer, tableIndex };
}

/** The record of a gate for tables in other memories, with a buffer per thread; 0 without a gate. */
export function writeGate(context: LoweringContext, { filter, touched }: StepGate, sliceIds: number): number {
  if (filter === undefined && touched === undefined) return 0;
  const { plan, environment } = context;
  const { bytes } = gateParts(sliceIds * plan.slices, TOUCHED_SCRATCH_BYTES);
  const record = context.alloc(GATE_WORDS * 4, 'gate');
  const words = environment.views.u32.subarray(record / 4, record / 4 + GATE_WORDS);
  words[GATE.filter] = filter?.pointer ?? 0;
  words[GATE.touched] = touched?.pointer ?? 0;
  words[GATE.tableIndex] = touched?.tableIndex ?? 0;
  words[GATE.buffers] = context.alloc(bytes * plan.threads, 'gate buffers');
  words[GATE.bufferBytes] = bytes;
  return record;
}
