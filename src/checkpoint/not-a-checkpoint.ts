/** @file The error of a path that names no checkpoint, in the words of the reference, with a hint at what would. */
import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { MonolithError } from '../base/errors.js';
import { isPath } from '../base/files/read-file.js';
import { checkpointsOrNone } from './names.js';

/** How many checkpoints a hint names. */
const NAMED_MAX = 3;

export function notACheckpoint(path: string): MonolithError {
  return new MonolithError('ML_CKPT_PATH', { path }, { hint: hintFor(path) });
}

function hintFor(path: string): string {
  if (!isPath(path)) return 'give what the names of its files have in common, such as runs/ffm/model.ckpt-2000';
  const isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const dir = isDirectory ? path : dirname(path);
  const names = checkpointsOrNone(dir).map((prefix) => basename(prefix));
  const listed = names.slice(0, NAMED_MAX).join(', ') + (names.length > NAMED_MAX ? ', …' : '');
  if (isDirectory && names.length > 0)
    return `it is a directory, with ${listed}; latestCheckpoint names its newest one`;
  if (isDirectory) return 'it is a directory without a checkpoint';
  return names.length > 0 ? `${dir} has ${listed}` : `there is no checkpoint in ${dir}`;
}
