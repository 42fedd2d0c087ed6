/** @file The checkpoint that an evaluation or a prediction is made with. */
import { MonolithError } from '../../base/errors.js';
import { latestCheckpoint } from '../../checkpoint/on-demand.js';

/** The step a checkpoint was saved at, as its manifest says. */
export async function checkpointStep(path: string): Promise<number> {
  const { readManifest } = await import('../../checkpoint/verify-checkpoint.js');
  return readManifest(path).step;
}

/** The newest checkpoint of a model directory; ML_CKPT_NONE when there is none. */
export async function newestCheckpoint(what: string, modelDir: string | null): Promise<string> {
  const path = modelDir === null ? null : await latestCheckpoint(modelDir);
  if (path !== null) return path;
  const hint = `call train first${modelDir === null ? '' : ', or give the checkpoint to use: { checkpoint }'}`;
  const fields = {
    path: modelDir ?? 'a model without modelDir',
    reason: `${what} needs one, and nothing was trained yet`,
  };
  throw new MonolithError('ML_CKPT_NONE', fields, { hint });
}
