/**
 * @file The folder of a run that `monolith train --data` left, opened to go on with: what its data was taken for, the
 * tables beside it, its best checkpoint. Nothing in a folder is ever run.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MonolithError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import { latestCheckpoint } from '../checkpoint/on-demand.js';
import type { Recipe } from '../recipe/recipe.js';
import { modelOf, schemasOf } from '../recipe/recipe-schema.js';
import type { RunRecord } from '../recipe/run-event.js';
import type { SideTable } from '../recipe/side-table.js';
import { keptSides, readRecipe, readRunRecord } from '../report/run-folder.js';
import type { EstimatorModel } from '../train/estimator/estimator-model.js';

export interface OpenRun {
  readonly dir: string;
  readonly recipe: Recipe;
  readonly sides: readonly SideTable[];
  readonly model: EstimatorModel;
  /** Prefix of the best checkpoint, or of the one that was asked for. */
  readonly checkpoint: string;
  readonly record: RunRecord | null;
}

export async function openRun(dir: string, checkpoint?: string): Promise<OpenRun> {
  if (!existsSync(dir)) {
    const folder = dirname(dir);
    const near = didYouMean(basename(dir), existsSync(folder) ? readdirSync(folder) : []);
    throw new MonolithError(
      'ML_FILE_READ',
      { file: dir, reason: 'there is no such folder' },
      near ? { hint: near } : {},
    );
  }
  const [recipe, record] = [readRecipe(dir), readRunRecord(dir)];
  if (recipe === null) throw noRecipe(dir, record);
  const found = checkpoint ?? (await latestCheckpoint(join(dir, 'best'))) ?? (await latestCheckpoint(dir));
  if (found === null) throw new MonolithError('ML_CKPT_NONE', { path: dir, reason: 'the run saved none' });
  const model = await modelOf(recipe, schemasOf(recipe).all);
  return { dir, recipe, sides: await keptSides(dir, recipe), model, checkpoint: found, record };
}

function noRecipe(dir: string, record: RunRecord | null): MonolithError {
  if (record?.module != null) {
    const reason = `it was trained by the module ${record.module}, and no code is run from a folder`;
    const hint = `a program has both: import the model from ${record.module}, new Estimator(model, { modelDir })`;
    return new MonolithError('ML_MODEL', { model: dir, reason }, { hint });
  }
  const hint = 'monolith train --data FILE --label COLUMN makes one, with schema.json in it';
  return new MonolithError('ML_MODEL', { model: dir, reason: 'it is no folder of a run on a table' }, { hint });
}

/** A setting of the run as it was; null where it is not known. */
export const settingOf = ({ record }: Pick<OpenRun, 'record'>, name: string): unknown =>
  record?.settings[name]?.value ?? null;
