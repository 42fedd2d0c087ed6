/**
 * @file Plain TypeScript twins of kernels: functions of the words that the kernel table names.
 *
 * A twin says what a kernel does with its words by name. It can be called with them in the order of the table too, as
 * the kernel itself is, so that one list of operands serves both.
 */
import type { Views } from '../../../memory/views.js';
import type { Kernel, Operands, Words } from '../../kernels/kernels.js';

/** What a kernel does; kernels without a result return nothing. */
export type Body<O extends Operands> = (m: Views, words: Words<O>) => unknown;

export interface Twin<O extends Operands = Operands> {
  /** With the words in the order of the table. Answers 0 for a kernel without a result. */
  (m: Views, ...words: number[]): number;
  readonly kernel: Kernel<O>;
  readonly named: (m: Views, words: Words<O>) => number;
}

export function twin<O extends Operands>(kernel: Kernel<O>, body: Body<O>): Twin<O> {
  const named = (m: Views, words: Words<O>) => (body(m, words) as number | undefined) ?? 0;
  const inOrder = (m: Views, ...words: number[]) => named(m, wordsInOrder(kernel, words));
  Object.defineProperty(inOrder, 'name', { value: kernel.name });
  return Object.assign(inOrder, { kernel, named });
}

/** Words by name; the number of them is checked, which the compiler cannot do. */
export function wordsInOrder<O extends Operands>({ name, words }: Kernel<O>, values: readonly number[]): Words<O> {
  if (values.length !== words.length) throw new Error(`${name} takes ${words.length} words, not ${values.length}`);
  const named: Record<string, number> = {};
  for (let i = 0; i < words.length; i++) named[words[i]!.name] = values[i]!;
  return named as Words<O>;
}
