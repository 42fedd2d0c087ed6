/** @file A run on a table, from its files to what the rows say that were held out. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MonolithError } from '../../base/errors.js';
import { bytesText } from '../../base/number-text.js';
import { didYouMean } from '../../base/suggest.js';
import type { CacheFound } from '../../data/cache/block-cache.js';
import type { FileOptions } from '../../data/files/file-rows.js';
import { type DemoData, demoData, isDemo } from '../../demo/demo-data.js';
import { auc } from '../../metrics/auc.js';
import { type PreparedTable, prepareTable } from '../../recipe/prepared-table.js';
import { readTable } from '../../recipe/read-table.js';
import { type ColumnPlan, type ColumnRole, featureColumns, type Recipe } from '../../recipe/recipe.js';
import { modelOf, schemasOf } from '../../recipe/recipe-schema.js';
import type { RunEvent } from '../../recipe/run-event.js';
import { type Overrules, toldRole } from '../../recipe/sniff-column.js';
import type { TableCache } from '../../recipe/table-blocks.js';
import {
  dataOf,
  doneEvent,
  estimatorOf,
  type RunSettings,
  testTable,
  trainRun,
  verdict,
} from '../../recipe/train-table.js';
import { EVENTS_FILE, readEvents } from '../../report/event-lines.js';
import { keptSides, readRecipe } from '../../report/run-folder.js';
import type { EstimatorModel } from '../../train/estimator/estimator-model.js';
import type { TrainHook } from '../../train/hooks/hook.js';

import { watchRun } from './learn-hooks.js';
import type { LearnFlags } from './learn-options.js';
import type { RunEnd, RunParts } from './run-parts.js';

const TRACE_EVENTS = 1 << 16;
/** Events each thread keeps where no trace is asked for: enough to tell where the time of the last steps went. */
const WATCH_EVENTS = 1 << 13;
/** Points of curves: those of a run of seconds too. */
const PROGRESS_MS = 50;

/** Trains on the table that the flags name. */
export async function runTable({ flags, run, signal, asks, askedTrace }: RunParts): Promise<RunEnd> {
  const tell = (event: RunEvent) => run.tell(event);
  // Before there are events of this run: they say which part of a demo comes next.
  const demo = demoOf(flags);
  const prepared = await readForRun(flags, tell, signal);
  const { recipe } = prepared;
  tell(modelEvent(prepared));
  const model = await modelOf(recipe, schemasOf(recipe).all);
  const settings = settingsOf(flags, signal);
  const { hooks, listeners, progress } = watchRun(flags, tell, () => run.open().keepRecipe(recipe, prepared.sides));
  const fresh = await freshHooks(flags, model);
  const outcome = await trainRun(
    estimatorOf(model, settings),
    dataOf(prepared, settings),
    { ...settings, hooks: (spec) => [...hooks(spec), askedTrace, ...fresh], listeners, asks },
    (event) => {
      if (event.event === 'progress') progress(event.step);
      tell(event);
    },
  );
  try {
    const test = await testTable(prepared, outcome.estimator, outcome, ceilingOf(demo, prepared));
    if (test !== undefined) {
      tell(test);
      const warning = verdict(test, prepared.splitBy, unseenOf(prepared));
      if (warning !== undefined) tell(warning);
    }
    return { done: doneEvent(outcome, test, { trace: flags.trace }), test };
  } finally {
    await outcome.estimator.close();
  }
}

/** What keeps a folder of the run fresh for servers, if the flags ask for it. */
async function freshHooks({ freshEvery, modelDir }: LearnFlags, model: EstimatorModel): Promise<readonly TrainHook[]> {
  if (freshEvery === null || modelDir === null) return [];
  const { DeltaHook } = await import('../../serve/fresh/delta-hook.js');
  const { FRESH_DIR } = await import('../../serve/fresh/delta-files.js');
  return [new DeltaHook({ model, dir: join(modelDir, FRESH_DIR), everySecs: freshEvery })];
}

/** Reads the table and tells what was found. */
export async function readForRun(
  flags: LearnFlags,
  tell: (event: RunEvent) => void,
  signal?: AbortSignal,
): Promise<PreparedTable> {
  const { data, seed, split } = flags;
  if (data === null) {
    const hint = '--data FILE names the rows, --data demo:clicks makes some up';
    throw new MonolithError('ML_FLAG', { flag: '--label', reason: 'there is no data it is in' }, { hint });
  }
  const demo = demoOf(flags);
  if (demo === undefined) checkThere(data);
  const source = data === '-' ? 'standard input' : basename(data);
  const stored = flags.modelDir === null ? null : readRecipe(flags.modelDir);
  if (stored !== null) checkSame(stored, flags);
  const splitBy = split === null || split === 'time' || split === 'row' ? undefined : split;
  const read = await readTable({
    data: demo?.rows ?? data,
    ...(demo && { columns: demo.rows }),
    source,
    label: flags.label ?? demo?.label,
    sides: flags.with ?? [],
    over: overOf(flags),
    model: {
      name: flags.model,
      ...(flags.dim !== null && { dim: flags.dim }),
      ...(flags.pieces !== null && { pieces: flags.pieces }),
    },
    options: fileOptionsOf(flags),
    badRowsMax: flags.badRowsMax,
    ...(flags.evalData !== null && { evalData: flags.evalData }),
    ...(splitBy !== undefined && { splitBy }),
    ...(stored !== null && { recipe: stored }),
    ...(stored !== null && flags.with === null && { kept: await keptSides(flags.modelDir!, stored) }),
    ...cacheOf(flags),
    ...(signal && { signal }),
  });
  if (read.cached !== undefined) tell({ event: 'note', message: cacheText(read.cached) });
  return prepareTable(read, { source, split: split ?? undefined, seed, isKnown: stored !== null }, tell);
}

function cacheOf({ cache, cacheDir, data }: LearnFlags): { readonly cache?: TableCache } {
  if (!cache && cacheDir === null) return {};
  const what = data === '-' ? 'standard input' : isDemo(data ?? '') ? 'what a demo makes up' : undefined;
  if (what !== undefined) {
    const reason = `${what} cannot be known again`;
    throw new MonolithError('ML_FLAG', { flag: '--cache', reason }, { hint: 'files can: leave the flag out here' });
  }
  return { cache: cacheDir === null ? {} : { dir: cacheDir } };
}

const cacheText = ({ file, bytes, state }: CacheFound): string =>
  state === 'made'
    ? `parsed rows are kept in ${file}, ${bytesText(bytes)}: the next run has them from there`
    : `rows were parsed before: they come from ${file}, ${bytesText(bytes)}`;

/** What the flags say columns are for. */
export function overOf(flags: Pick<LearnFlags, 'id' | 'number' | 'time' | 'ignore' | 'words' | 'list'>): Overrules {
  return {
    ...(flags.id && { id: flags.id }),
    ...(flags.number && { number: flags.number }),
    ...(flags.time && { time: flags.time }),
    ...(flags.ignore && { ignore: flags.ignore }),
    ...(flags.words && { words: flags.words }),
    ...(flags.list && { list: flags.list }),
  };
}

export function fileOptionsOf(
  flags: Pick<LearnFlags, 'format' | 'delimiter' | 'columns' | 'null' | 'badRows' | 'badRowsMax'>,
): FileOptions {
  return {
    badRows: flags.badRows,
    badRowsMax: flags.badRowsMax,
    ...(flags.format !== null && { format: flags.format }),
    ...(flags.delimiter !== null && { delimiter: flags.delimiter.replace('\\t', '\t') }),
    ...(flags.columns !== null && { columns: flags.columns }),
    ...(flags.null !== null && { nulls: flags.null }),
  };
}

export function settingsOf(flags: LearnFlags, signal: AbortSignal): RunSettings {
  const { batchSize, threads, backend, cudaDriver, seed, deterministic, prefetch, postpush } = flags;
  const { tableMemory, whenFull, modelDir, saveEvery, summaryEvery, trace, epochs, steps, until, earlyStop, minDelta } =
    flags;
  return {
    estimator: {
      ...{ batchSize, threads, backend, seed, deterministic, prefetch, postpush, whenFull, modelDir },
      summaryEverySteps: summaryEvery,
      ...(cudaDriver !== null && { cudaDriver }),
      ...(tableMemory !== null && { tableMemory }),
      ...(saveEvery !== null && { saveEverySteps: saveEvery }),
      session: { traceEvents: trace === null ? WATCH_EVENTS : TRACE_EVENTS },
    },
    ...{ batchSize, seed, progressIntervalMs: PROGRESS_MS, signal, epochs, steps, until, minDelta },
    patience: earlyStop,
    metric: flags.metric,
  };
}

/** Rows of a demo: those behind what the folder of the run was trained on. */
function demoOf({ data, modelDir }: LearnFlags): DemoData | undefined {
  if (data === null || !isDemo(data)) return undefined;
  if (modelDir === null || !existsSync(join(modelDir, EVENTS_FILE))) return demoData(data);
  return demoData(data, readEvents(modelDir).filter(({ event }) => event === 'trained').length);
}

/** The AUC of who knows how likely each click of a demo was; null of other data. */
function ceilingOf(demo: DemoData | undefined, { parts, label }: PreparedTable): number | null {
  if (demo === undefined) return null;
  const labels = Float32Array.from(parts.test, (row) => label[row]!);
  return auc(
    labels,
    Float32Array.from(parts.test, (row) => demo.rows.probability(row)),
  );
}

/** A file that is not there, with the nearest name in its folder. */
export function checkThere(data: string): void {
  if (data === '-' || /[*?[{]/.test(data)) return;
  if (existsSync(data)) {
    if (!statSync(data).isDirectory()) return;
    const hint = `'${join(data, '*.csv')}' in quotes takes the files in it`;
    throw new MonolithError('ML_FILE_READ', { file: data, reason: 'it is a folder' }, { hint });
  }
  const folder = dirname(data);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const near = didYouMean(basename(data), names);
  const hint = near ?? 'give a file, a pattern in quotes, - for standard input, or demo:clicks for made-up clicks';
  throw new MonolithError('ML_FILE_READ', { file: data, reason: 'there is no such file' }, { hint });
}

/** A run that is gone on with keeps its label, its model and its tables beside. */
function checkSame(stored: Recipe, flags: LearnFlags): void {
  const { label, model, pieces, dim, modelDir } = flags;
  const changes: string[] = [];
  const asked = label?.replaceAll(' ', '');
  const known = [stored.label.column, `${stored.label.column}${stored.label.rule ?? ''}`];
  if (stored.label.positive !== undefined) known.push(`${stored.label.column}==${stored.label.positive.join('|')}`);
  if (asked !== undefined && !known.includes(asked)) changes.push(`label ${known.at(-1)}, now ${label}`);
  if (stored.model.name !== model) changes.push(`model ${stored.model.name}, now ${model}`);
  if (pieces !== null && stored.model.pieces !== pieces) {
    changes.push(`pieces ${stored.model.pieces ?? 'by the rows'}, now ${pieces}`);
  }
  if (dim !== null && stored.model.dim !== dim) {
    changes.push(`dim ${stored.model.dim ?? 'of the model'}, now ${dim}`);
  }
  const over = overOf(flags);
  for (const { name, role } of stored.columns) {
    const told = toldRole(name, over);
    if (told !== undefined && told !== role) changes.push(`column ${name} ${roleText(role)}, now ${roleText(told)}`);
  }
  if (changes.length === 0) return;
  const hint = 'give another --model-dir, or what it was trained with';
  throw new MonolithError('ML_CKPT_SETTINGS', { path: modelDir, changes: changes.join('; ') }, { hint });
}

const roleText = (role: ColumnRole): string => (role === 'none' ? 'left out' : `for ${role}`);

function modelEvent({ recipe, ids }: PreparedTable): RunEvent {
  const features = featureColumns(recipe);
  const numbers = features.filter(({ role }) => role === 'number').length;
  const { name, dim } = recipe.model;
  const of = [
    `${features.length - numbers} columns of ids`,
    ...(numbers > 0 ? [`${numbers} of numbers${piecesText(features)}`] : []),
    `${ids.toLocaleString('en-US')} ids`,
    ...(dim === undefined ? [] : [`${dim} floats each`]),
  ];
  return { event: 'model', name, ids, text: `${name}  ${of.join(', ')}` };
}

/** How many pieces numbers are seen in. */
function piecesText(features: readonly ColumnPlan[]): string {
  const most = Math.max(0, ...features.map(({ edges }) => (edges?.length ?? 1) - 1));
  return most === 0 ? '' : ` in up to ${most} pieces`;
}

const unseenOf = ({ idColumns, averages, parts }: PreparedTable) =>
  Object.fromEntries(idColumns.map((name) => [name, averages.unseen(name, parts.test)]));
