/** @file The module of a run of one's own, named again by whoever goes on from the run: no folder runs code. */
import { isAbsolute, join } from 'node:path';
import { MonolithError } from '../../base/errors.js';
import { Schema } from '../../data/schema.js';
import type { SidePlan } from '../../recipe/recipe.js';
import type { RunRecord } from '../../recipe/run-event.js';
import { readRunRecord } from '../../report/run-folder.js';
import type { OwnGiven } from '../../trained/own-run.js';
import type { LearnFlags } from '../learn/learn-options.js';
import { givenData, partsOf } from '../learn/own-data.js';
import { loadOwnModel } from '../learn/own-model.js';

/** ML_FLAG for a run that needs no module, ML_MODEL for a module that says too little. */
export async function openOwn(dir: string, file: string, sides: readonly SidePlan[] | null): Promise<OwnGiven> {
  const record = readRunRecord(dir);
  if (record !== null && record.module === null) {
    const reason = `${dir} is a run of a table, which says itself what its model is`;
    throw new MonolithError('ML_FLAG', { flag: '--module', reason }, { hint: 'leave it out' });
  }
  const own = await loadOwnModel(file);
  const { model } = own;
  if (!(model.schema instanceof Schema)) {
    const hint = 'a program goes on from it: new Estimator(model, { modelDir })';
    throw new MonolithError('ML_MODEL', { model: file, reason: 'its schema is none of defineSchema' }, { hint });
  }
  const flags = flagsOf(record);
  return {
    ...{ file, model, schema: model.schema },
    beside: sides ?? flags.with ?? [],
    held: () => partsOf(own, flags).test,
    past: () => givenData(own, flags).train,
  };
}

/** The settings of the run, with its files where they stand from here. */
function flagsOf(record: RunRecord | null): LearnFlags {
  const given = Object.entries(record?.settings ?? {}).map(([name, { value }]) => [name, value]);
  const flags = { ...NO_FILES, ...(Object.fromEntries(given) as Partial<LearnFlags>) };
  const placed = (path: string) =>
    isAbsolute(path) || path === '-' || record === null ? path : join(record.folder, path);
  return {
    ...flags,
    data: flags.data == null ? null : placed(flags.data),
    evalData: flags.evalData == null ? null : placed(flags.evalData),
    with: flags.with?.map(({ file, key }) => ({ file: placed(file), key })) ?? null,
  } as LearnFlags;
}

/** Of a folder that says nothing of its settings. */
const NO_FILES = { data: null, evalData: null, with: null, split: null, seed: 0, format: null, delimiter: null };
