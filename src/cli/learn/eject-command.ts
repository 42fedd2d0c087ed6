/** @file `--eject model.ts`: the program that a command stands for, to be changed from there. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { MonolithError, messageOf } from '../../base/errors.js';
import { ejected } from '../../recipe/eject.js';
import type { CliIo } from '../io.js';
import { jsonLine } from '../json-line.js';
import { EXIT_DONE } from '../report.js';
import { shellWord } from '../result-text.js';
import type { LearnFlags } from './learn-options.js';
import { fileOptionsOf, readForRun } from './table-run.js';

/** Writes the file; one that is there already stays. */
export async function runEject(flags: LearnFlags, io: CliIo): Promise<number> {
  const file = flags.eject!;
  if (existsSync(file)) {
    const hint = 'give another name, or remove it first';
    throw new MonolithError('ML_ALREADY_EXISTS', { what: file, reason: '--eject overwrites nothing' }, { hint });
  }
  const { recipe, splitBy } = await readForRun(flags, () => undefined);
  const { data, epochs, batchSize, seed } = flags;
  const text = ejected(recipe, { data: data!, splitBy, epochs, batchSize, seed, options: fileOptionsOf(flags) });
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (cause) {
    throw new MonolithError('ML_OUTPUT', { reason: messageOf(cause) }, { cause });
  }
  if (flags.json) io.out.write(jsonLine({ event: 'ejected', file }));
  else io.out.write(`wrote ${file}; train it with: monolith train ${shellWord(file)}\n`);
  return EXIT_DONE;
}
