/** @file The estimator of a run's folder, made again from what the folder says of itself. */
import { existsSync } from 'node:fs';
import { MonolithError } from '../base/errors.js';
import { modelOf, schemasOf } from '../recipe/recipe-schema.js';
import { readRecipe, readRunRecord, SCHEMA_FILE } from '../report/run-folder.js';
import { Estimator } from '../train/estimator/estimator.js';
import '../serve/provide.js';

/** The caller closes it. ML_DIR for a folder that does not say what was trained in it. */
export async function estimatorOfRun(dir: string): Promise<Estimator> {
  const recipe = existsSync(dir) ? readRecipe(dir) : null;
  if (recipe !== null) return new Estimator(await modelOf(recipe, schemasOf(recipe).all), { modelDir: dir });
  if (!existsSync(dir)) throw new MonolithError('ML_DIR', { dir, reason: 'there is no such folder' });
  const module = readRunRecord(dir)?.module ?? null;
  const reason =
    module === null ? `it has no ${SCHEMA_FILE}, which runs of a table keep` : `its model is in ${module}, a program`;
  const hint = 'a program exports its own: await estimator.export(dir)';
  throw new MonolithError('ML_DIR', { dir, reason }, { hint });
}
