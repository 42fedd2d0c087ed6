/** @file `monolith train model.ts`: what a module of the user's own has to say: the model, its data, its settings. */

import { MonolithError } from '../../base/errors.js';
import { loadModule, type ModuleLoaded } from '../../base/load-module.js';
import { didYouMean } from '../../base/suggest.js';
import { TRAIN_CONFIG_KEYS } from '../../train/config/define-config.js';
import { checkEstimatorModel, type EstimatorModel } from '../../train/estimator/estimator-model.js';

/** Rows by what they are for. */
export interface OwnData {
  readonly train: unknown;
  /** Chooses the best epoch. Where it is absent a tenth of `train` does. */
  readonly validation?: unknown;
  /** Reports. */
  readonly test?: unknown;
}

export interface OwnModel {
  readonly file: string;
  readonly model: EstimatorModel;
  readonly data: OwnData | undefined;
  /** Settings that go before defaults, and behind flags and the config file. */
  readonly settings: Readonly<Record<string, unknown>>;
}

const HINT = "export default defineModel(schema, { name: 'taste' }, (inputs, m) => …)";
const PARTS = ['train', 'validation', 'test'];

/** ML_MODEL for a module that exports no model, or data that is none. */
export async function loadOwnModel(file: string): Promise<OwnModel> {
  const module = await loadModule(file);
  const model = (module.default ?? module.model) as EstimatorModel;
  try {
    checkEstimatorModel(model);
  } catch (cause) {
    const found = Object.keys(module);
    const what = found.length === 0 ? 'nothing' : found.join(', ');
    const reason = `its default export is no model; it exports ${what}`;
    throw new MonolithError('ML_MODEL', { model: file, reason }, { hint: HINT, cause });
  }
  return { file, model, data: dataOf(file, module), settings: settingsOf(file, module.settings) };
}

function dataOf(file: string, { data }: ModuleLoaded): OwnData | undefined {
  if (data === undefined) return undefined;
  const isParts = typeof data === 'object' && data !== null && 'train' in data;
  if (!isParts) return { train: data };
  const stranger = Object.keys(data).find((name) => !PARTS.includes(name));
  if (stranger === undefined) return data as OwnData;
  const hint = didYouMean(stranger, PARTS) ?? `there are ${PARTS.join(', ')}`;
  throw new MonolithError('ML_MODEL', { model: file, reason: `its data has a part ${stranger}` }, { hint });
}

function settingsOf(file: string, settings: unknown): Readonly<Record<string, unknown>> {
  if (settings === undefined) return {};
  const refuse = (reason: string, hint: string) => new MonolithError('ML_MODEL', { model: file, reason }, { hint });
  if (typeof settings !== 'object' || settings === null) {
    throw refuse('its settings are no object', 'export const settings = { epochs: 5 }');
  }
  for (const key of Object.keys(settings)) {
    if (TRAIN_CONFIG_KEYS.includes(key)) continue;
    throw refuse(`there is no setting ${key}`, didYouMean(key, TRAIN_CONFIG_KEYS) ?? 'settings are flags in camelCase');
  }
  return settings as Readonly<Record<string, unknown>>;
}
