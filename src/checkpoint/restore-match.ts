/**
 * @file Decides, before anything changes, what of a checkpoint goes where in a session, and whether the differences are
 * allowed.
 */
import { dirname } from 'node:path';
import { MonolithError } from '../base/errors.js';
import { checkModel, denseText, segmentsText } from './check-model.js';
import { isNamed, type RestoreMode, type RestoreOptions } from './restore-options.js';
import type { RestoredItem, RestoreOutcome } from './restore-report.js';
import type { DenseLayout, TableLayout } from './snapshot.js';

/** A table of a session, or of a checkpoint: one without a manifest does not tell the segments. */
export interface SideTable {
  readonly name: string;
  readonly segments?: TableLayout['segments'] | undefined;
  /** Names that older checkpoints may have it under. */
  readonly extraRestoreNames?: readonly string[];
  /** It keeps weights alone, whatever the optimizer of what it is restored from. */
  readonly isServing?: boolean;
}

export interface ModelSide {
  readonly dense: readonly DenseLayout[];
  readonly tables: readonly SideTable[];
}

/** What a session has, and where its values come from: null for initial values. */
export interface Assignment {
  readonly name: string;
  readonly from: string | null;
}

export interface RestoreMatch {
  readonly dense: readonly Assignment[];
  readonly tables: readonly Assignment[];
  readonly tensorItems: readonly RestoredItem[];
  readonly tableItems: readonly RestoredItem[];
}

/** ML_CKPT_MODEL, with the outcome of each variable and table in its fields, when a difference is not allowed. */
export function matchCheckpoint(
  session: ModelSide,
  found: ModelSide,
  options: RestoreOptions,
  path: string,
): RestoreMatch {
  const { mode = 'exact' } = options;
  const dense = assign(session.dense, found.dense, options, (mine, theirs) => {
    if (mine.dtype !== theirs.dtype) return { reason: differs(denseText(mine), denseText(theirs)) };
    if (mine.shape.join() === theirs.shape.join()) return undefined;
    const fits = countOf(mine) === countOf(theirs) && isNamed(options.reshape, mine.name);
    return { reason: differs(denseText(mine), denseText(theirs)), reshaped: fits };
  });
  const tables = assign(session.tables, found.tables, options, (mine, theirs) => {
    const reason = tableDifference(mine, theirs);
    return reason === undefined ? undefined : { reason };
  });
  const items = [...dense.items, ...tables.items];
  if (items.some(({ outcome }) => outcome === 'missing' || outcome === 'refused')) {
    throw refusal(session, found, { mode, path, tensors: dense.items, tables: tables.items });
  }
  return { dense: dense.assigned, tables: tables.assigned, tensorItems: dense.items, tableItems: tables.items };
}

interface Named {
  readonly name: string;
  readonly extraRestoreNames?: readonly string[];
}

interface Difference {
  readonly reason: string;
  /** It can be restored all the same. */
  readonly reshaped?: boolean;
}

function assign<T extends Named>(
  mine: readonly T[],
  theirs: readonly T[],
  options: RestoreOptions,
  compare: (mine: T, theirs: T) => Difference | undefined,
): { readonly assigned: Assignment[]; readonly items: RestoredItem[] } {
  const { mode = 'exact' } = options;
  const byName = new Map(theirs.map((item) => [item.name, item]));
  const used = new Set<string>();
  const assigned: Assignment[] = [];
  const items: RestoredItem[] = [];
  for (const item of mine) {
    const { name } = item;
    const source = namesOf(item, options).find((candidate) => byName.has(candidate));
    if (isNamed(options.initial, name)) {
      if (source !== undefined) used.add(source);
      assigned.push({ name, from: null });
      items.push({ name, outcome: 'initialised', reason: 'as the options say' });
      continue;
    }
    const mayBeMissing = isNamed(options.missing, name);
    if (source === undefined) {
      if (mayBeMissing) assigned.push({ name, from: null });
      items.push({ name, outcome: mayBeMissing ? 'initialised' : 'missing', ...renamedFrom(name, options) });
      continue;
    }
    used.add(source);
    const difference = compare(item, byName.get(source)!);
    const outcome = outcomeOf(difference, mayBeMissing);
    if (outcome !== 'refused') assigned.push({ name, from: outcome === 'initialised' ? null : source });
    items.push({
      name,
      outcome,
      ...(source !== name && { from: source }),
      ...(difference !== undefined && { reason: difference.reason }),
    });
  }
  for (const { name } of theirs) {
    if (used.has(name)) continue;
    const isAllowed = mode === 'subset' || mode === 'foreign' || isNamed(options.extra, name);
    items.push({ name, outcome: isAllowed ? 'extra' : 'refused', ...(!isAllowed && { reason: ONLY_THERE }) });
  }
  return { assigned, items };
}

const ONLY_THERE = 'only the checkpoint has it';

/** Names that an item may have in the checkpoint; its own comes first, so that a run that was renamed can go on. */
function namesOf({ name, extraRestoreNames = [] }: Named, { rename = {} }: RestoreOptions): string[] {
  return [name, ...(Object.hasOwn(rename, name) ? [rename[name]!] : []), ...extraRestoreNames];
}

function renamedFrom(name: string, { rename = {} }: RestoreOptions): { reason?: string } {
  return Object.hasOwn(rename, name) ? { reason: `nor is there ${rename[name]}` } : {};
}

function outcomeOf(difference: Difference | undefined, mayBeMissing: boolean): RestoreOutcome {
  if (difference === undefined) return 'restored';
  if (difference.reshaped) return 'reshaped';
  return mayBeMissing ? 'initialised' : 'refused';
}

function tableDifference(mine: SideTable, theirs: SideTable): string | undefined {
  if (mine.segments === undefined || theirs.segments === undefined) return undefined;
  const dims = (segments: TableLayout['segments']) => segments.map(({ dim }) => dim).join(' + ');
  const [expected, found] = mine.isServing
    ? [dims(mine.segments), dims(theirs.segments)]
    : [segmentsText(mine.segments), segmentsText(theirs.segments)];
  return expected === found ? undefined : differs(expected, found);
}

interface Refused {
  readonly mode: RestoreMode;
  readonly path: string;
  readonly tensors: readonly RestoredItem[];
  readonly tables: readonly RestoredItem[];
}

function refusal(session: ModelSide, found: ModelSide, { mode, path, tensors, tables }: Refused): MonolithError {
  const report = { mode, path, tensors, tables };
  if (mode === 'exact') {
    try {
      checkModel(asExact(session), asExact(found), dirname(path));
    } catch (cause) {
      if (!(cause instanceof MonolithError)) throw cause;
      const hint = `${cause.hint}; a restore has other modes too: subset, warm-start, foreign`;
      return new MonolithError(cause.code, { ...cause.fields, report }, { hint });
    }
  }
  const wrong = [...tensors, ...tables].filter(({ outcome }) => outcome === 'missing' || outcome === 'refused');
  const texts = wrong.map(({ name, outcome, reason }) => {
    return `${name}: ${outcome === 'missing' ? 'the checkpoint does not have it' : reason}`;
  });
  const reason = `${texts.slice(0, 5).join('; ')}${texts.length > 5 ? `; and ${texts.length - 5} more` : ''}`;
  const hint = hintFor(mode, wrong);
  return new MonolithError('ML_CKPT_MODEL', { dir: dirname(path), what: wrong[0]!.name, reason, report }, { hint });
}

function asExact({ dense, tables }: ModelSide) {
  return { modelName: '', dense, tables: tables.map(({ segments = [], ...table }) => ({ ...table, segments })) };
}

function hintFor(mode: RestoreMode, wrong: readonly RestoredItem[]): string {
  const name = wrong[0]!.name;
  if (mode === 'subset') return "mode 'warm-start' takes lists of what may be missing, renamed or reshaped";
  if (wrong[0]!.outcome === 'missing') return `name ${name} in missing, or its old name in rename`;
  return wrong[0]!.reason === ONLY_THERE ? `name ${name} in extra` : `name ${name} in reshape, or in missing`;
}

function countOf({ shape }: DenseLayout): number {
  return shape.reduce((product, size) => product * size, 1);
}

function differs(expected: string, found: string): string {
  return `expected ${expected}, found ${found}`;
}
