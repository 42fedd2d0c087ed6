/**
 * @file Twins of kernels that make every element, or every row, of their result alike: only the formula is theirs.
 *
 * Where operands are is read from the kernel table: matrices that are read are the arguments of the formula in their
 * order, and an address that is read is a row that all rows share. What is written is the result.
 */

import type { Kernel } from '../../../kernels/kernel.js';
import type { Operands, Words } from '../../../kernels/kernels.js';
import type { Operand } from '../../../kernels/operand.js';
import { type Twin, twin } from '../twin.js';
import { mapRows, put, zipRows } from './loops.js';

const f = Math.fround;

type Numbers = Readonly<Record<string, number>>;
/** Reads an operand's address and stride out of the words of a call. */
type Place = (words: Numbers) => readonly [at: number, stride: number];

function placesOf(
  kernel: { readonly name: string; readonly operands: Operands },
  access: 'read' | 'write',
  count: number,
): Place[] {
  const own = Object.entries<Operand>(kernel.operands).filter(([, operand]) => operand.access === access);
  if (own.length !== count) throw new Error(`${kernel.name} has ${own.length} operands to ${access}, not ${count}`);
  return own.map(([name, { type }]): Place => {
    const stride = `${name}Stride`;
    return type === 'address' ? (words) => [words[name]!, 0] : (words) => [words[name]!, words[stride]!];
  });
}

/** result[r, c] (+)= value(x[r, c]). */
export function map<O extends Operands>(kernel: Kernel<O>, value: (x: number, words: Words<O>) => number): Twin<O> {
  const [read] = placesOf(kernel, 'read', 1) as [Place];
  const [write] = placesOf(kernel, 'write', 1) as [Place];
  return twin(kernel, (m, words) => {
    const numbers = words as Numbers;
    const { rows, cols, acc = 0 } = numbers;
    mapRows(m, ...read(numbers), ...write(numbers), rows!, cols!, acc, (x) => value(x, words));
  });
}

/** result[r, c] (+)= value(a[r, c], b[r, c]). */
export function zip<O extends Operands>(
  kernel: Kernel<O>,
  value: (a: number, b: number, words: Words<O>) => number,
): Twin<O> {
  const [first, second] = placesOf(kernel, 'read', 2) as [Place, Place];
  const [write] = placesOf(kernel, 'write', 1) as [Place];
  return twin(kernel, (m, words) => {
    const numbers = words as Numbers;
    const { rows, cols, acc = 0 } = numbers;
    const matrices = [...first(numbers), ...second(numbers), ...write(numbers)] as const;
    zipRows(m, ...matrices, rows!, cols!, acc, (a, b) => value(a, b, words));
  });
}

/** The gradient of `map`: dx (+)= dy * slope at x, rounded twice. */
export function mapGrad<O extends Operands>(kernel: Kernel<O>, slope: (x: number) => number): Twin<O> {
  return zip(kernel, (dy, x) => f(dy * f(slope(x))));
}

type Matrix = Operand<'matrix'>;
type Count = Operand<'count'>;
/** Kernels of losses have these operands and more; words of an `O` that extends them are not seen to have theirs. */
type LossOperands = { readonly x: Matrix; readonly label: Matrix; readonly out: Matrix; readonly rows: Count };
type GradOperands = Omit<LossOperands, 'out'> & {
  readonly dy: Matrix;
  readonly dx: Matrix;
  readonly acc: Operand<'flag'>;
};

/** out[r] = value(x[r], label[r]). */
export function loss<O extends LossOperands>(
  kernel: Kernel<O>,
  value: (x: number, label: number, words: Words<O>) => number,
): Twin<O> {
  return twin(kernel, (m, words) => {
    const { x, xStride, label, labelStride, out, outStride, rows } = words as unknown as Words<LossOperands>;
    for (let r = 0; r < rows; r++) {
      const [logit, target] = [m.f32[(x >>> 2) + r * xStride]!, m.f32[(label >>> 2) + r * labelStride]!];
      m.f32[(out >>> 2) + r * outStride] = value(logit, target, words);
    }
  });
}

/** dx[r] (+)= dy[r] * slope(x[r], label[r]). */
export function lossGrad<O extends GradOperands>(
  kernel: Kernel<O>,
  slope: (x: number, label: number, words: Words<O>) => number,
): Twin<O> {
  return twin(kernel, (m, words) => {
    const { x, xStride, label, labelStride, dy, dyStride, dx, dxStride, rows, acc } =
      words as unknown as Words<GradOperands>;
    for (let r = 0; r < rows; r++) {
      const [logit, target] = [m.f32[(x >>> 2) + r * xStride]!, m.f32[(label >>> 2) + r * labelStride]!];
      const grad = m.f32[(dy >>> 2) + r * dyStride]!;
      put(m, (dx >>> 2) + r * dxStride, f(grad * f(slope(logit, target, words))), acc);
    }
  });
}
