/** @file Opens a model that was exported: the first call loads the code. */
import type { Features } from '../data/schema.js';
import type { LoadedModel, LoadModelOptions } from './loaded-model.js';

/**
 * Opens an exported model: a version, or a folder of versions, of which the newest is taken.
 *
 * ```ts
 * const taste = await loadModel('export/taste', { schema });
 * const [score] = await taste.predict([{ userId: 'u42', movieId: 318n, genres: ['Crime'] }]);
 * ```
 */
export async function loadModel<F extends Features = Features>(
  dir: string,
  options: LoadModelOptions<F> = {},
): Promise<LoadedModel<F>> {
  const { openModel } = await import('./loaded-model.js');
  return openModel(dir, options);
}
