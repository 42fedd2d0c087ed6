/** @file Predictions as TensorFlow Serving writes them. */
import type { LoadedHead } from '../loaded-model.js';
import { refusal } from './refusal.js';

/** A value, or those of a head that has several. */
function valueAt(values: Float32Array, { width }: LoadedHead, row: number): number | number[] {
  return width === 1 ? values[row]! : Array.from(values.subarray(row * width, (row + 1) * width));
}

/** `predictions` of rows, `outputs` of columns; of several heads each by its name. */
export function predictAnswer(
  heads: readonly LoadedHead[],
  values: readonly Float32Array[],
  rows: number,
  form: 'rows' | 'columns',
): object {
  const column = (head: LoadedHead, index: number) =>
    Array.from({ length: rows }, (_, row) => valueAt(values[index]!, head, row));
  if (form === 'columns') {
    if (heads.length === 1) return { outputs: column(heads[0]!, 0) };
    return { outputs: Object.fromEntries(heads.map((head, index) => [head.name, column(head, index)])) };
  }
  if (heads.length === 1) return { predictions: column(heads[0]!, 0) };
  const named = (row: number) =>
    Object.fromEntries(heads.map((head, index) => [head.name, valueAt(values[index]!, head, row)]));
  return { predictions: Array.from({ length: rows }, (_, row) => named(row)) };
}

/** Classes with their scores for each example: those of the head, or 0 and 1 of one that is a chance. */
export function classifyAnswer(
  [head]: readonly LoadedHead[],
  [values]: readonly Float32Array[],
  rows: number,
): { readonly results: readonly (readonly (readonly [label: string, score: number])[])[] } {
  const { kind, width, classes, name } = head!;
  if (kind !== 'binary' && kind !== 'multiclass') {
    throw refusal(400, `the output ${name} is no class`, { hint: 'ask :regress or :predict' });
  }
  const labels = classes ?? (width === 1 ? ['0', '1'] : Array.from({ length: width }, (_, index) => `${index}`));
  const scores = (row: number) => {
    const value = valueAt(values!, head!, row);
    return typeof value === 'number' ? [1 - value, value] : value;
  };
  const results = Array.from({ length: rows }, (_, row) =>
    scores(row).map((score, index) => [labels[index]!, score] as const),
  );
  return { results };
}

/** A number for each example. */
export function regressAnswer(
  [head]: readonly LoadedHead[],
  [values]: readonly Float32Array[],
): { readonly results: readonly number[] } {
  if (head!.width === 1) return { results: Array.from(values!) };
  throw refusal(400, `the output ${head!.name} has ${head!.width} values`, { hint: 'ask :predict' });
}
