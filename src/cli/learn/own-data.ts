/** @file The rows that a model of one's own is trained on: those its module exports, or those of `--data`. */
import { MonolithError } from '../../base/errors.js';
import type { BatchSource } from '../../data/batch-source.js';
import { Dataset } from '../../data/dataset.js';
import { type Features, Schema } from '../../data/schema.js';
import { type DataGiven, sourceOf } from '../../data/source-of.js';
import { allRows, heldRows, isRowsGiven } from '../../recipe/held-rows.js';
import type { RunEvent } from '../../recipe/run-event.js';
import { heldOutSource, trainSource } from '../../recipe/table-source.js';
import type { RunData } from '../../recipe/train-table.js';
import type { LearnFlags } from './learn-options.js';
import type { OwnData, OwnModel } from './own-model.js';
import { checkThere, fileOptionsOf } from './table-run.js';

const TENTH = 0.1;

/** Rows that report, with their labels where the schema says which those are. */
export interface TestRows {
  readonly source: BatchSource;
  readonly rows: number | undefined;
  readonly labels: Float32Array | undefined;
}

export interface OwnRows extends RunData {
  readonly test: TestRows | undefined;
}

/** Reads the rows; what there is to say of them goes to `tell`. */
export async function ownRows(
  own: OwnModel,
  flags: LearnFlags,
  tell: (event: RunEvent) => void,
  signal?: AbortSignal,
): Promise<OwnRows> {
  const { schema } = own.model;
  const parts = partsOf(own, flags);
  const read = async (data: unknown): Promise<TestRows & { readonly train: BatchSource }> => {
    const table = isRowsGiven(data) && schema instanceof Schema ? await heldRows(schema, data, signal) : undefined;
    if (table === undefined) {
      const source = sourceOf('monolith train', schema, data as DataGiven<unknown>) as BatchSource;
      return { source, train: source, rows: undefined, labels: undefined };
    }
    if (table.rows === 0) throw new MonolithError('ML_DATASET', { reason: `the data of ${own.file} has no rows` });
    const label = labelOf(schema as Schema<Features>);
    return {
      source: heldOutSource(table, allRows(table)),
      train: trainSource(table, allRows(table), flags.seed),
      rows: table.rows,
      labels: label === undefined ? undefined : table.floats(label),
    };
  };
  const train = await read(parts.train);
  const validation = parts.validation === undefined ? undefined : await read(parts.validation);
  const test = parts.test === undefined ? undefined : await read(parts.test);
  if (train.rows !== undefined) {
    const counts = { train: train.rows, validation: validation?.rows ?? 0, test: test?.rows ?? 0 };
    tell({ event: 'split', by: parts.by, ...counts, unseen: {}, cut: null });
  }
  return {
    train: train.train,
    validation: validation?.source,
    stepsPerEpoch: train.rows === undefined ? undefined : Math.ceil(train.rows / flags.batchSize),
    test,
  };
}

interface Parts extends OwnData {
  readonly by: string;
}

/** What the module or the command line gives for data, before any is held out. */
export function givenData({ file, model, data }: OwnModel, flags: LearnFlags): OwnData {
  const schema = model.schema instanceof Schema ? model.schema : undefined;
  let given = data;
  if (flags.cache || flags.cacheDir !== null) {
    const hint = `Dataset.from(…).cache() in ${file} keeps what a thread parses`;
    throw new MonolithError('ML_FLAG', { flag: '--cache', reason: 'is for a table without a module' }, { hint });
  }
  if (flags.data !== null) {
    checkThere(flags.data);
    if (schema === undefined) {
      const hint = 'export data from the module instead';
      throw new MonolithError('ML_MODEL', { model: file, reason: '--data needs a schema of defineSchema' }, { hint });
    }
    let rows = Dataset.from(flags.data, schema, fileOptionsOf(flags)) as Dataset;
    for (const side of flags.with ?? []) rows = rows.with(side.file, { key: side.key });
    const test = flags.evalData === null ? undefined : Dataset.from(flags.evalData, schema, fileOptionsOf(flags));
    given = { train: rows, ...(test && { test }) };
  }
  if (given === undefined) {
    const hint = `export const data = { train, validation, test } in ${file}, or give --data FILE`;
    throw new MonolithError('ML_MODEL', { model: file, reason: 'it says nothing of its data' }, { hint });
  }
  return given;
}

/** Holds a tenth out for what the module has no part for. */
export function partsOf(own: OwnModel, flags: LearnFlags): Parts {
  const { model } = own;
  const { seed, split } = flags;
  const schema = model.schema instanceof Schema ? model.schema : undefined;
  const by = split ?? (schema !== undefined && hasTime(schema) ? 'time' : 'row');
  let { train, validation, test } = givenData(own, flags);
  const isOwn = validation !== undefined && test !== undefined;
  if (!isRowsGiven(train) || schema === undefined) return { train, validation, test, by: 'module' };
  const rows = (some: unknown) => (some instanceof Dataset ? some : (Dataset.from(some as never, schema) as Dataset));
  if (test === undefined) ({ train, test } = rows(train).split({ test: TENTH, by, seed }));
  if (validation === undefined) {
    ({ train, test: validation } = rows(train).split({ test: TENTH, by, seed: seed + 1 }));
  }
  return { train, validation, test, by: isOwn ? 'module' : by };
}

const hasTime = ({ features }: Schema<Features>): boolean =>
  Object.values(features).some(({ field }) => field?.role === 'time');

/** The feature that is the label: the one that says so. */
const labelOf = ({ features }: Schema<Features>): string | undefined =>
  Object.keys(features).find((name) => features[name]!.field?.role === 'label');
