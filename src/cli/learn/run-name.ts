/** @file The folder of a run: the one that was asked for, else a new one in `runs`, called after the data. */
import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { MonolithError } from '../../base/errors.js';
import type { LearnFlags } from './learn-options.js';

const RUNS = 'runs';

/** The folder; one that is there already is another run's, so the next number is taken. */
export function runFolderOf({ modelDir, data, file }: LearnFlags): string {
  if (modelDir !== null) {
    // What is no folder is told before the data are read.
    if (!existsSync(modelDir) || statSync(modelDir).isDirectory()) return modelDir;
    throw new MonolithError(
      'ML_DIR',
      { dir: modelDir, reason: 'it is a file' },
      { hint: 'name a folder, or a new one' },
    );
  }
  const name = nameOf(data ?? file ?? 'run');
  for (let number = 1; ; number++) {
    const dir = join(RUNS, number === 1 ? name : `${name}-${number}`);
    if (!existsSync(dir)) return dir;
  }
}

/** `data/ratings-*.csv.gz` is ratings. */
function nameOf(data: string): string {
  const plain = basename(data.replace(/^demo:(\w+).*$/, '$1')).replace(/\..*$/, '');
  return plain.replace(/[^\w-]+/g, '').replace(/[-_]+$/, '') || 'run';
}
