/**
 * @file Config files: settings of `monolith train` as JSON or as the default export of a module.
 *
 * `monolith.config.*` of the working folder is taken without being named.
 */
import { existsSync, readFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { MonolithError, messageOf } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import { fieldName } from '../train/config/field.js';

const NAMES = ['.json', '.mjs', '.js', '.ts'].map((ending) => `monolith.config${ending}`);

export interface ConfigFile {
  readonly file: string;
  /** By the names of flags in camelCase. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** The file, or that of `folder`; null where none is named or there. ML_CONFIG_FILE for one that is no good. */
export async function loadConfigFile(
  named: string | undefined,
  keys: readonly string[],
  folder = process.cwd(),
): Promise<ConfigFile | null> {
  const file = named ?? NAMES.find((name) => existsSync(join(folder, name)));
  if (file === undefined) return null;
  const loaded = await load(file, resolve(folder, file));
  if (typeof loaded !== 'object' || loaded === null || Array.isArray(loaded)) {
    const found = Array.isArray(loaded) ? 'a list' : loaded === undefined ? 'nothing' : `${JSON.stringify(loaded)}`;
    const hint = 'write { "batchSize": 512 }, or export default { batchSize: 512 }';
    throw refuse(file, `an object of settings is needed, not ${found}`, hint);
  }
  const values: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(loaded)) {
    const name = keys.find((one) => one === fieldName(key));
    const hint = didYouMean(fieldName(key), keys) ?? `the settings are ${keys.join(', ')}`;
    if (name === undefined) throw refuse(file, `there is no setting ${key}`, hint);
    if (Object.hasOwn(values, name)) throw refuse(file, `${name} is there twice`, `one of them is ${key}`);
    values[name] = value;
  }
  return { file, values };
}

/** The error of a config file, or of one of its settings. */
export function refuse(file: string, reason: string, hint?: string, cause?: unknown): MonolithError {
  const options = { ...(hint === undefined ? {} : { hint }), ...(cause === undefined ? {} : { cause }) };
  return new MonolithError('ML_CONFIG_FILE', { file, reason }, options);
}

async function load(file: string, path: string): Promise<unknown> {
  if (!existsSync(path)) throw refuse(file, 'there is no such file');
  try {
    if (extname(path) === '.json') return JSON.parse(readFileSync(path, 'utf8'));
    const { loadModule } = await import('../base/load-module.js');
    return (await loadModule(path)).default;
  } catch (cause) {
    const reason = cause instanceof MonolithError ? String(cause.fields.reason) : messageOf(cause);
    throw refuse(file, reason, cause instanceof MonolithError ? cause.hint : undefined, cause);
  }
}
