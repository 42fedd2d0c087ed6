/**
 * @file What a model was made of, as a file that a task can be looked at by later (native_training/dump_utils).
 *
 * Facts and no code: names, dims, configs. Functions are refused, as in the reference. The file is JSON with a version;
 * the reference's message definitions of it are empty.
 */

import { readFile } from 'node:fs/promises';
import { MonolithError } from '../../base/errors.js';
import { writeFileAtomic } from '../../base/files/atomic-file.js';
import { isDryRun } from './build-context.js';
import { type DumpedFeatures, ratesOf } from './dumped-features.js';

export const DUMP_VERSION = 2;

export interface DumpedColumn {
  readonly featureName: string;
  readonly occurrenceThreshold: number;
  readonly expireTime: number;
  readonly maxSeqLength: number;
  readonly sharedName: string | null;
  readonly combiner: string;
}

export interface DumpedSlice {
  readonly features: string;
  readonly sliceName: string;
  readonly sliceDim: number | null;
  readonly groupOutType: string;
  readonly outType: string | null;
}

export interface DumpedModelFn {
  readonly mode: string;
  readonly heads: readonly string[];
  readonly classification: readonly boolean[];
  readonly features: readonly string[];
  readonly extraLosses: number;
  readonly signatures: readonly string[];
}

export interface DumpedTable {
  readonly name: string;
  /** The config of the table as text, rates included. */
  readonly config: string;
  readonly learningRates: readonly number[];
  readonly sliceDims: readonly number[];
  readonly combiner: string;
  readonly extraRestoreNames: readonly string[];
}

/** Everything that was recorded. */
export interface ModelDump {
  readonly version: typeof DUMP_VERSION;
  config: Readonly<Record<string, unknown>> | null;
  userParams: readonly string[];
  params: Readonly<Record<string, unknown>> | null;
  featureColumns: readonly DumpedColumn[];
  slices: readonly DumpedSlice[];
  inputs: Readonly<Record<string, unknown>>;
  modelFns: Readonly<Record<string, DumpedModelFn>>;
  tables: readonly DumpedTable[];
  occurrenceThresholds: Readonly<Record<string, number>>;
  expireTimes: Readonly<Record<string, number>>;
  /** Slots and features, of which a task's tables are made again; null where none was recorded. */
  declared: DumpedFeatures | null;
}

function emptyDump(): ModelDump {
  return {
    version: DUMP_VERSION,
    config: null,
    userParams: [],
    params: null,
    featureColumns: [],
    slices: [],
    inputs: {},
    modelFns: {},
    tables: [],
    occurrenceThresholds: {},
    expireTimes: {},
    declared: null,
  };
}

/** Records while it is enabled; nothing in collect mode. */
export class DumpUtils {
  /** The one of the process. */
  static readonly shared = new DumpUtils();

  enable = false;
  #dump = emptyDump();

  /** Whether what is told now is recorded. */
  get needRecord(): boolean {
    return this.enable && !isDryRun();
  }

  /** Forgets what was recorded. */
  clear(): void {
    this.#dump = emptyDump();
  }

  get dumped(): ModelDump {
    return this.#dump;
  }

  addConfig(config: Readonly<Record<string, unknown>>): void {
    if (this.needRecord) this.#dump.config = config;
  }

  addUserParams(names: readonly string[]): void {
    if (this.needRecord) this.#dump.userParams = names;
  }

  recordParams(params: Readonly<Record<string, unknown>>): void {
    if (this.needRecord) this.#dump.params = params;
  }

  recordFeatureColumn(column: DumpedColumn): void {
    if (!this.needRecord) return;
    const others = this.#dump.featureColumns.filter(({ featureName }) => featureName !== column.featureName);
    this.#dump.featureColumns = [...others, column];
  }

  recordSlice({ hasRate, ...slice }: DumpedSlice & { readonly hasRate: boolean }): void {
    if (!this.needRecord) return;
    if (hasRate) {
      throw new MonolithError('ML_TASK', { reason: 'for safety purpose learning_rate_fn is not allowed' });
    }
    this.#dump.slices = [...this.#dump.slices, slice];
  }

  recordInput(mode: string, features: Readonly<Record<string, unknown>>): void {
    if (this.needRecord) this.#dump.inputs = { ...this.#dump.inputs, [mode]: features };
  }

  recordModelFn(call: DumpedModelFn, hooks: number): void {
    if (!this.needRecord) return;
    if (hooks > 0) throw new MonolithError('ML_TASK', { reason: 'For safety purpose, customer hooks is not allowed!' });
    this.#dump.modelFns = { ...this.#dump.modelFns, [call.mode]: call };
  }

  recordTables(
    tables: readonly (Omit<DumpedTable, 'learningRates'> & { readonly rates: readonly unknown[] })[],
    thresholds: ReadonlyMap<number, number>,
    expireTimes: ReadonlyMap<number, number>,
  ): void {
    if (!this.needRecord) return;
    this.#dump.tables = tables.map(({ rates, ...table }) => ({ ...table, learningRates: rates.map(asNumber) }));
    this.#dump.occurrenceThresholds = Object.fromEntries(thresholds);
    this.#dump.expireTimes = Object.fromEntries(expireTimes);
  }

  recordDeclared(declared: DumpedFeatures): void {
    if (!this.needRecord) return;
    for (const rate of ratesOf(declared)) asNumber(rate);
    this.#dump.declared = declared;
  }

  /** Writes what was recorded; nothing while it is not enabled. */
  async dump(path: string): Promise<void> {
    if (this.enable) await writeFileAtomic(path, `${JSON.stringify(this.#dump, null, 2)}\n`);
  }

  /** Takes over what a file has. */
  async load(path: string): Promise<ModelDump> {
    let found: Partial<ModelDump>;
    try {
      found = JSON.parse(await readFile(path, 'utf8')) as Partial<ModelDump>;
    } catch (cause) {
      throw new MonolithError('ML_FILE_READ', { file: path, reason: 'it is no dump of a model' }, { cause });
    }
    if (found?.version !== DUMP_VERSION) {
      const reason = `it is of version ${String(found?.version)}, and ${DUMP_VERSION} is read`;
      throw new MonolithError('ML_FILE_READ', { file: path, reason });
    }
    this.#dump = { ...emptyDump(), ...found };
    return this.#dump;
  }
}

function asNumber(rate: unknown): number {
  if (typeof rate === 'number') return rate;
  throw new MonolithError('ML_TASK', { reason: 'learning_rate_fn is not support!' });
}

/** The one of the process. */
export const dumpUtils = DumpUtils.shared;
