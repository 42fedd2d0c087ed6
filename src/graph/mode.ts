/** @file What a model is built for, and a program run for. */
import { MonolithError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';

export const MODES = ['train', 'eval', 'predict'] as const;
/**
 * `train` learns; `eval` has labels and leaves the model as it is; `predict` has no labels. Dropout and batch norm go
 * by it, and tables are only read by what does not train.
 */
export type Mode = (typeof MODES)[number];

/** ML_OPTION for what is no mode. */
export function checkMode(where: string, mode: unknown): Mode {
  if (MODES.includes(mode as Mode)) return mode as Mode;
  const reason = `there is no mode ${String(mode)}`;
  const hint = didYouMean(String(mode), MODES) ?? `there are ${MODES.join(', ')}`;
  throw new MonolithError('ML_OPTION', { where, option: 'mode', reason }, { hint });
}
