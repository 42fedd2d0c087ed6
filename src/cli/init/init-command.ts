/** @file `monolith init`: a project with a model of one's own, made from a table of data or from made-up clicks. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { MonolithError, messageOf } from '../../base/errors.js';
import { writeRows } from '../../data/files/write-rows.js';
import { ClickLog } from '../../demo/click-log.js';
import { ejected } from '../../recipe/eject.js';
import { prepareTable } from '../../recipe/prepared-table.js';
import { readTable } from '../../recipe/read-table.js';
import type { SidePlan } from '../../recipe/recipe.js';
import type { CliIo } from '../io.js';
import { jsonLine } from '../json-line.js';
import { checkThere, fileOptionsOf, overOf } from '../learn/table-run.js';
import { EXIT_DONE } from '../report.js';
import { shellWord } from '../result-text.js';
import { stoppable } from '../trained/with-run.js';
import type { InitFlags } from './init-options.js';
import { projectFiles } from './project-files.js';

const COPY_BYTES_MAX = 64 << 20;
const CLICK_ROWS = 50_000;
const SEED = 2026;
const SETTINGS = { epochs: 10, batchSize: 256, seed: 0 };

export function runInitCommand(dir: string, flags: InitFlags, io: CliIo): Promise<number> {
  const { data, label } = flags;
  if (data !== null && label === null) {
    const hint = "--label COLUMN says what is predicted, such as --label 'rating>=3.5'";
    throw new MonolithError('ML_FLAG', { flag: 'init', reason: 'needs the label of --data' }, { hint });
  }
  if (existsSync(dir) && readdirSync(dir).length > 0) {
    const hint = 'give the name of a new folder: monolith init my-recs';
    throw new MonolithError('ML_ALREADY_EXISTS', { what: dir, reason: 'init overwrites nothing' }, { hint });
  }
  if (data !== null) checkThere(data);
  for (const { file } of flags.with ?? []) checkThere(file);
  return stoppable(io, async (signal) => {
    const options = fileOptionsOf(flags);
    const given = {
      ...{ source: basename(data ?? 'clicks.csv'), label: label ?? 'click', over: overOf(flags), options, signal },
      model: { name: 'deepfm' },
      badRowsMax: flags.badRowsMax,
    } as const;
    // Read before anything is written: what cannot be trained on makes no project.
    const rows = data ?? new ClickLog({ rows: CLICK_ROWS, seed: SEED });
    const read = await readTable({ ...given, data: rows, sides: flags.with ?? [] });
    const { splitBy } = prepareTable(
      read,
      { source: given.source, split: undefined, seed: SETTINGS.seed },
      () => undefined,
    );
    mkdirSync(join(dir, 'data'), { recursive: true });
    const file = data === null ? 'data/clicks.csv' : copied(dir, data);
    if (data === null) {
      await writeRows(
        join(dir, file),
        (async function* () {
          yield [...new ClickLog({ rows: CLICK_ROWS, seed: SEED })];
        })(),
      );
    }
    const sides = read.recipe.sides.map((side): SidePlan => ({ ...side, file: copied(dir, side.file) }));
    const model = ejected({ ...read.recipe, sides }, { ...SETTINGS, data: file, splitBy, options });
    const files = projectFiles(basename(resolve(dir)), model);
    for (const [name, text] of Object.entries(files)) write(join(dir, name), text);
    const count = Object.keys(files).length;
    const next = `cd ${shellWord(dir)} && npm install && npm run train`;
    if (flags.json) io.out.write(jsonLine({ event: 'made', dir, files: Object.keys(files), data: file, next }));
    else if (!flags.quiet) io.out.write(`wrote ${dir} with ${count} files. Next:\n  ${next}\n`);
    return EXIT_DONE;
  });
}

/** Where a program of the project finds the file: a copy in `data`, or the file itself where it is large. */
function copied(dir: string, file: string): string {
  if (!existsSync(file) || statSync(file).size > COPY_BYTES_MAX) return relative(dir, file) || file;
  const name = join('data', basename(file));
  copyFileSync(file, join(dir, name));
  return name;
}

function write(file: string, text: string): void {
  try {
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, text, { flag: 'wx' });
  } catch (cause) {
    throw new MonolithError('ML_OUTPUT', { reason: messageOf(cause) }, { cause });
  }
}
