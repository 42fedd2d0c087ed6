/** @file The settings of `monolith train`: flags go before a config file, the file before defaults. */
import { MonolithError } from '../base/errors.js';
import { DRIVER_VARIABLE } from '../runtime/backends/cuda/driver-variable.js';
import { type ConfigFile, loadConfigFile, refuse } from './config-file.js';
import { flagName, parseFlags } from './flags.js';
import type { CliIo } from './io.js';
import { isLearning, type LearnFlags, learnFlags, refuseStrangers } from './learn/learn-options.js';
import type { OwnModel } from './learn/own-model.js';
import { parseTrainFlags, type TrainFlags, trainFlags } from './train-options.js';

export interface TrainSetting {
  readonly value: unknown;
  /** `flag --steps`, `config file monolith.config.json`, `environment NAME`, `rule: …` or `default`. */
  readonly origin: string;
}

type Settings = Readonly<Record<string, TrainSetting>>;

/** The built-in demo, or a table of data or a model of one's own. */
export type ResolvedTrain =
  | { readonly kind: 'demo'; readonly flags: TrainFlags; readonly settings: Settings }
  | { readonly kind: 'learn'; readonly flags: LearnFlags; readonly settings: Settings };

/** Flags that are about this very command, and no settings of a training. */
const OWN = ['config', 'dryRun', 'smoke', 'eject'];
const settingsOf = (shape: object) => Object.keys(shape).filter((key) => !OWN.includes(key));
/** Settings of the demo, of other training, and of both. */
export const DEMO_KEYS = settingsOf(trainFlags.shape);
const LEARN_KEYS = settingsOf(learnFlags.shape);
export const SETTING_KEYS = [...new Set([...LEARN_KEYS, ...DEMO_KEYS])];
/** Ends of names of modules, which are models of one's own. */
const MODULE = /\.[cm]?[jt]s$/;

/** What a command line and the config file say together; `module` is the argument of the command. */
export async function resolveTrain(
  raw: Record<string, unknown>,
  env: CliIo['env'],
  module: string | null = null,
): Promise<ResolvedTrain> {
  const file = await loadConfigFile(raw.config as string | undefined, SETTING_KEYS);
  const given = file === null ? {} : textsOf(file);
  const merged: Record<string, unknown> = { ...given, ...raw };
  if (module !== null && !MODULE.test(module)) {
    const hint = `a model of one's own is a module such as model.ts; --data ${module} trains on a file`;
    throw new MonolithError('ML_FLAG', { flag: `train ${module}`, reason: 'is no module' }, { hint });
  }
  let own = module;
  if (own === null && typeof merged.model === 'string' && MODULE.test(merged.model)) {
    own = merged.model;
    delete merged.model;
  }
  const ownModel = own === null ? null : await loadOwn(own);
  if (ownModel !== null) {
    for (const [key, value] of Object.entries(textsOf({ file: own!, values: ownModel.settings })))
      merged[key] ??= value;
  }
  const isLearn = isLearning(merged, own);
  const keys = isLearn ? LEARN_KEYS : DEMO_KEYS;
  refuseStrangers(Object.keys(raw), [...keys, ...(isLearn ? OWN : ['config', 'dryRun'])], isLearn);
  const parsed = parse<TrainFlags | LearnFlags>(
    isLearn ? parseLearnFlags(ownModel) : parseTrainFlags,
    merged,
    raw,
    file,
  );
  const settings: Record<string, TrainSetting> = {};
  for (const key of keys) {
    settings[key] = {
      value: (parsed as Record<string, unknown>)[key],
      origin: originOf(key, raw, given, file, ownModel),
    };
  }
  const driver = env[DRIVER_VARIABLE];
  if (parsed.cudaDriver === null && driver) {
    settings.cudaDriver = { value: driver, origin: `environment ${DRIVER_VARIABLE}` };
  }
  if (isLearn) return { kind: 'learn', flags: parsed as LearnFlags, settings };
  if (parsed.steps === null) settings.steps = { value: null, origin: 'rule: until says where to stop' };
  return { kind: 'demo', flags: parsed as TrainFlags, settings };
}

const parseLearnFlags =
  (own: OwnModel | null) =>
  (merged: object): LearnFlags => {
    const flags = { ...parseFlags(learnFlags, merged, 'train'), file: own?.file ?? null, own };
    const stranger = own === null ? undefined : OF_TABLES.find((key) => key in merged);
    if (stranger === undefined) return flags;
    const hint = `the module ${own!.file} says it`;
    throw new MonolithError(
      'ML_FLAG',
      { flag: flagName(stranger), reason: 'is for a table without a model' },
      { hint },
    );
  };

/** Settings that a model of one's own has in its schema. */
const OF_TABLES = ['label', 'id', 'number', 'time', 'ignore', 'words', 'list', 'eject', 'model', 'dim', 'pieces'];

/** The module, loaded when there is one: help and checks of flags come without the training code. */
const loadOwn = async (file: string): Promise<OwnModel> => (await import('./learn/own-model.js')).loadOwnModel(file);

function originOf(key: string, raw: object, given: object, file: ConfigFile | null, own: OwnModel | null): string {
  if (key in raw) return `flag ${flagName(key)}`;
  if (key in given) return `config file ${file!.file}`;
  return own !== null && key in own.settings ? `module ${own.file}` : 'default';
}

const SHAPE = { ...trainFlags.shape, ...learnFlags.shape };

/** Values of a file as a command line would have them: the same checks are for both. Null stands for not set. */
function textsOf({ file, values }: ConfigFile): Record<string, unknown> {
  const texts: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) {
    if (value === null || value === undefined) continue;
    const isSwitch = SHAPE[key as keyof typeof SHAPE].safeParse(true).success;
    if (isSwitch !== (typeof value === 'boolean') || !['boolean', 'string', 'number'].includes(typeof value)) {
      const wanted = isSwitch ? 'true or false' : 'a text or a number';
      throw refuse(file, `${key} is ${wanted}, not ${JSON.stringify(value) ?? String(value)}`);
    }
    texts[key] = isSwitch ? value : String(value);
  }
  return texts;
}

/** A setting of the file that is no good is an error of the file. */
function parse<F extends TrainFlags | LearnFlags>(
  check: (merged: object) => F,
  merged: object,
  raw: object,
  file: ConfigFile | null,
): F {
  try {
    return check(merged);
  } catch (error) {
    if (!(error instanceof MonolithError) || error.code !== 'ML_FLAG' || file === null) throw error;
    const key = SETTING_KEYS.find((one) => flagName(one) === error.fields.flag);
    if (key === undefined || key in raw || !(key in file.values)) throw error;
    throw refuse(file.file, `${key} ${String(error.fields.reason)}`, error.hint, error);
  }
}
