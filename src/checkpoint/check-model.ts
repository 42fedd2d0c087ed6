/** @file Whether a checkpoint fits the model it is to be restored into. */
import { MonolithError } from '../base/errors.js';
import type { DenseLayout, ModelLayout, TableLayout } from './snapshot.js';

/** ML_CKPT_MODEL when a checkpoint of `found` cannot be restored into `expected`. The first difference is named. */
export function checkModel(expected: ModelLayout, found: ModelLayout, dir: string): void {
  const refuse = (what: string, want: string, have: string): never => {
    throw new MonolithError(
      'ML_CKPT_MODEL',
      { dir, what, expected: want, found: have, reason: `${what}: expected ${want}, found ${have}` },
      { hint: 'use another model directory, or the model and settings this directory was made with' },
    );
  };
  if (found.modelName !== expected.modelName) refuse('model', expected.modelName, found.modelName);
  compare('dense values', expected.dense, found.dense, denseText, refuse);
  compare(
    'tables',
    expected.tables,
    underOwnNames(expected.tables, found.tables),
    ({ segments }) => segmentsText(segments),
    refuse,
  );
}

/** What a checkpoint has under an older name of a table that it does not have otherwise, under the name of today. */
function underOwnNames(expected: readonly TableLayout[], found: readonly TableLayout[]): TableLayout[] {
  const has = new Set(found.map(({ name }) => name));
  const names = new Map<string, string>();
  for (const { name, extraRestoreNames = [] } of expected) {
    const older = has.has(name) ? undefined : extraRestoreNames.find((extra) => has.has(extra));
    if (older !== undefined) names.set(older, name);
  }
  return found.map((table) => ({ ...table, name: names.get(table.name) ?? table.name }));
}

function compare<T extends { readonly name: string }>(
  what: string,
  expected: readonly T[],
  found: readonly T[],
  text: (item: T) => string,
  refuse: (what: string, want: string, have: string) => never,
): void {
  const have = new Map(found.map((item) => [item.name, item]));
  for (const item of expected) {
    const other = have.get(item.name);
    if (other === undefined) refuse(what, item.name, [...have.keys()].join(', ') || 'none');
    else if (text(item) !== text(other)) refuse(`${what}, ${item.name}`, text(item), text(other));
  }
  const wanted = new Set(expected.map((item) => item.name));
  const extra = found.filter((item) => !wanted.has(item.name)).map((item) => item.name);
  if (extra.length > 0) refuse(what, [...wanted].join(', ') || 'none', `also ${extra.join(', ')}`);
}

/** `float32[2, 4]`. */
export function denseText({ dtype, shape }: DenseLayout): string {
  return `${dtype}[${shape.join(', ')}]`;
}

/** `ftrl[1] + adagrad[8]`. */
export function segmentsText(segments: TableLayout['segments']): string {
  const texts = segments.map(({ dim, optimizer, stateDim }) => {
    return `${optimizer}[${dim}]${stateDim === undefined || stateDim === dim ? '' : ` with state ${stateDim}`}`;
  });
  return texts.join(' + ');
}
