/** @file Layers computed by hand in doubles, for tests: rows of numbers and the weights of a session. */

export type Row = readonly number[];

export const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
export const sum = (count: number, term: (i: number) => number): number =>
  range(count).reduce((total, i) => total + term(i), 0);
export const dot = (a: Row, b: Row): number => sum(a.length, (i) => a[i]! * b[i]!);
export const relu = (x: number): number => Math.max(x, 0);
export const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
export const linear = (x: number): number => x;

export function softmax(row: Row, mask?: Row): number[] {
  const e = row.map((value, i) => (mask?.[i] === 0 ? 0 : Math.exp(value)));
  const total = e.reduce((a, b) => a + b, 0);
  return e.map((value) => (total === 0 ? 0 : value / total));
}

/** Values of a variable by name. */
export type Weights = (name: string) => Row;

/** activation(row * kernel + bias) of the dense layer called `name`. */
export function dense(row: Row, w: Weights, name: string, activation: (x: number) => number = linear): number[] {
  const [kernel, bias] = [w(`${name}/kernel`), w(`${name}/bias`)];
  return bias.map((b, j) => activation(b + sum(row.length, (i) => row[i]! * kernel[i * bias.length + j]!)));
}

/** Dense layers called `name/dense`, `name/dense_1`, … */
export function mlp(row: Row, w: Weights, name: string, activations: readonly ((x: number) => number)[]): number[] {
  return activations.reduce<number[]>(
    (input, activation, i) => dense(input, w, `${name}/dense${i === 0 ? '' : `_${i}`}`, activation),
    [...row],
  );
}
