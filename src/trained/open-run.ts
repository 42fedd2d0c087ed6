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
import { modelOf, type RecipeSchemas, schemasOf } from '../recipe/recipe-schema.js';
import type { RunRecord } from '../recipe/run-event.js';
import type { SideTable } from '../recipe/side-table.js';
import { keptSides, readRecipe, readRunRecord } from '../report/run-folder.js';
import type { EstimatorModel } from '../train/estimator/estimator-model.js';
import { type OwnGiven, recipeOfSchema } from './own-run.js';

export interface OpenRun {
  readonly dir: string;
  readonly recipe: Recipe;
  readonly sides: readonly SideTable[];
  readonly model: EstimatorModel;
  /** Prefix of the best checkpoint, or of the one that was asked for. */
  readonly checkpoint: string;
  readonly record: RunRecord | null;
  /** Of a run of a model of one's own: what its module says. */
  readonly own?: OwnGiven;
  /** The schemas of such a run; those that follow from the recipe of others. */
  readonly schemas?: RecipeSchemas;
}

/** Opens a folder; `own` is the module of a run of a model of one's own, which nothing in the folder is run for. */
export async function openRun(dir: string, checkpoint?: string, own?: OwnGiven): Promise<OpenRun> {
  if (!existsSync(dir)) {
    const folder = dirname(dir);
    const near = didYouMean(basename(dir), existsSync(folder) ? readdirSync(folder) : []);
    throw new MonolithError(
      'ML_FILE_READ',
      { file: dir, reason: 'there is no such folder' },
      near ? { hint: near } : {},
    );
  }
  const [kept, record] = [readRecipe(dir), readRunRecord(dir)];
  const recipe = own === undefined ? kept : recipeOfSchema(own);
  if (recipe === null) throw noRecipe(dir, record);
  const found = checkpoint ?? (await latestCheckpoint(join(dir, 'best'))) ?? (await latestCheckpoint(dir));
  if (found === null) throw new MonolithError('ML_CKPT_NONE', { path: dir, reason: 'the run saved none' });
  if (own !== undefined) {
    const schemas = { all: own.schema, own: own.schema, sides: new Map() };
    return { dir, recipe, sides: [], model: own.model, checkpoint: found, record, own, schemas };
  }
  const model = await modelOf(recipe, schemasOf(recipe).all);
  return { dir, recipe, sides: await keptSides(dir, recipe), model, checkpoint: found, record };
}

function noRecipe(dir: string, record: RunRecord | null): MonolithError {
  if (record?.module != null) {
    const reason = `it was trained by the module ${record.module}, and no code is run from a folder`;
    const hint = `--module ${record.module} says that it may be`;
    return new MonolithError('ML_MODEL', { model: dir, reason }, { hint });
  }
  const hint = 'monolith train --data FILE --label COLUMN makes one, with schema.json in it';
  return new MonolithError('ML_MODEL', { model: dir, reason: 'it is no folder of a run on a table' }, { hint });
}

/** A setting of the run as it was; null where it is not known. */
export const settingOf = ({ record }: Pick<OpenRun, 'record'>, name: string): unknown =>
  record?.settings[name]?.value ?? null;
