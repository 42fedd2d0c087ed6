/** @file Weights of an architecture search read from a checkpoint. Mirrors get_nas_weight_json of native_training. */
import { statSync } from 'node:fs';
import { MonolithError } from '../base/errors.js';
import { floatText } from '../base/python-json.js';
import { latestCheckpoint } from '../checkpoint/load-checkpoint.js';
import { BundleReader } from '../io/bundle-reader.js';

const found = new Map<string, readonly string[]>();

/**
 * The first variable of a checkpoint whose name contains `prefix`, each value as decimal text. What was found once for
 * a path and a prefix is remembered. `path` is a model directory or the prefix of a checkpoint.
 */
export async function getNasWeightJson(path: string, prefix: string): Promise<readonly string[]> {
  const key = `${prefix}\0${path}`;
  const known = found.get(key);
  if (known !== undefined) return known;
  const isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const checkpoint = isDirectory ? await latestCheckpoint(path) : path;
  if (checkpoint === null) throw new MonolithError('ML_CKPT_NONE', { path, reason: 'the directory lists none' });
  const reader = new BundleReader(checkpoint);
  const name = reader.names().find((each) => each.includes(prefix));
  if (name === undefined) {
    throw new MonolithError('ML_CKPT_MODEL', { dir: path, reason: 'not arch_weights in ckpt' });
  }
  const { data } = reader.read(name);
  const values = Array.from(data as ArrayLike<number | bigint>, (value) =>
    decimalText(value, data instanceof Float32Array),
  );
  found.set(key, values);
  return values;
}

/** As NumPy prints a number of that width: the shortest text that reads back. */
function decimalText(value: number | bigint, isSingle: boolean): string {
  if (typeof value === 'bigint') return String(value);
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value < 0 ? '-inf' : 'inf';
  if (!isSingle) return floatText(value);
  let digits = 1;
  while (digits < 9 && Math.fround(Number(value.toPrecision(digits))) !== value) digits++;
  return floatText(Number(value.toPrecision(digits)));
}
