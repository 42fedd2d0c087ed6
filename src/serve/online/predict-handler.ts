/**
 * @file Answers requests for predictions, as a function from Request to Response: it goes into any server. Paths and
 * bodies are those of TensorFlow Serving, with calls of our own beside them.
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { LoadedModel } from '../loaded-model.js';
import type { HandlerOptions, PredictHandler } from './handler-options.js';
import type { ServedModel } from './served-model.js';

export type { HandlerOptions, PredictHandler } from './handler-options.js';

/**
 * A handler over models by their names.
 *
 * ```ts
 * const taste = await loadModel('export/taste');
 * const handler = createPredictHandler({ taste });
 * const answer = await handler(new Request('http://localhost/v1/models/taste'));
 * ```
 */
export function createPredictHandler(
  models: Readonly<Record<string, ServedModel | LoadedModel>>,
  options: HandlerOptions = {},
): PredictHandler {
  checkOptions('createPredictHandler', options, [
    ...(['bodyBytesMax', 'rowsMax', 'openMax', 'deadlineMs', 'strict', 'token', 'metrics', 'ready'] as const),
  ]);
  for (const name of Object.keys(models)) checkName(name);
  // Loaded with the first request: who only imports the package pays nothing for it.
  let app: Promise<PredictHandler> | undefined;
  return async (request) => {
    app ??= import('./predict-app.js').then(({ predictApp }) => predictApp(models, options));
    return (await app)(request);
  };
}

/** ML_OPTION for a name that cannot stand in a path. */
export function checkName(name: string): void {
  if (/^[\w.-]{1,200}$/.test(name) && !/^\.+$/.test(name)) return;
  const reason = `${JSON.stringify(name)} cannot be the name of a model in a path`;
  const hint = 'letters, digits, _, - and . are taken: NAME=DIR gives another';
  throw new MonolithError('ML_OPTION', { where: 'createPredictHandler', option: 'models', reason }, { hint });
}
