/**
 * @file What a name of an expectation stands for among the names that were computed: the name itself, one that means
 * the same, or a part of a list such as its last entry. Derivations are data: a pattern and what it takes.
 */
import { RaggedTensor } from '../../src/tensor/ragged-tensor.js';
import { Tensor } from '../../src/tensor/tensor.js';
import { isRecord } from './case.js';
import { knownName, meansResult } from './meanings.js';

/**
 * One value after each step. A name alone may mean all of them or the last: the depth of what is expected says which.
 */
export class Series {
  readonly each: readonly unknown[];

  constructor(each: readonly unknown[]) {
    this.each = each;
  }

  like(expected: unknown): unknown {
    const last = this.each.at(-1);
    return depth(expected) > depth(last) ? this.each : last;
  }
}

function depth(value: unknown): number {
  return Array.isArray(value) ? 1 + depth(value[0]) : 0;
}

function asList(value: unknown): readonly unknown[] | undefined {
  if (value instanceof Series) return value.each;
  if (value instanceof Tensor || value instanceof RaggedTensor) return value.toArray() as unknown[];
  if (ArrayBuffer.isView(value)) return [...(value as unknown as Iterable<unknown>)];
  return Array.isArray(value) ? value : undefined;
}

const numbersOf = (value: unknown): number[] => (asList(value) ?? [value]).flat(9).map(Number);

function shapeOf(value: unknown): number[] {
  const items = asList(value);
  return items === undefined ? [] : [items.length, ...shapeOf(items[0])];
}

type Take = (value: unknown, number: number) => unknown;
const entry = (value: unknown, index: number) => asList(value)?.at(index);

/** Patterns over the whole name; the first group is the name of the value, the second a number. */
const DERIVATIONS: readonly (readonly [RegExp, Take])[] = [
  [
    /^(\w+?)_(?:last|final|end|at_end|at_the_end|after|after_all|after_last_step|after_all_steps)$/,
    (v) => entry(v, -1),
  ],
  [/^(?:last|final)_(\w+)$/, (v) => entry(v, -1)],
  [/^(\w+?)_(?:first|after_first|after_first_step)$/, (v) => entry(v, 0)],
  [/^first_(\w+)$/, (v) => entry(v, 0)],
  [/^(\w+?)_(?:after|at|step|after_step|at_step)_(\d+)(?:_steps?)?$/, (v, n) => entry(v, n - 1)],
  [/^(?:each|all)_(\w+)$/, asList],
  [/^(\w+?)_(?:each|per|by|every)_(?:step|call|run|op)$/, asList],
  [/^(\w+?)_(?:after_each|after_each_step|after_every_step|each|history|trace|trajectory|sequence|steps|all)$/, asList],
  [/^(\w+?)_(?:sorted|unordered|set)$/, (v) => v],
  [/^(\w+?)_(?:count|len|length|size)$/, (v) => asList(v)?.length],
  [/^(?:num|n|count|number_of|num_of)_(\w+)$/, (v) => asList(v)?.length],
  [/^(\w+?)_shape$/, shapeOf],
  [/^(\w+?)_(?:sum|total)$/, (v) => numbersOf(v).reduce((sum, x) => sum + x, 0)],
  [/^(\w+?)_max$/, (v) => Math.max(...numbersOf(v))],
  [/^(\w+?)_min$/, (v) => Math.min(...numbersOf(v))],
];

/** The computed value that `key` asks for, or undefined when there is none. */
export function derive(key: string, computed: unknown): { readonly value: unknown } | undefined {
  if (!isRecord(computed)) return undefined;
  const names = Object.keys(computed).filter((name) => computed[name] !== undefined);
  const spelled = knownName(key, names, { rows: [] });
  if (spelled !== undefined) return { value: computed[spelled] };
  for (const [pattern, take] of DERIVATIONS) {
    const match = pattern.exec(key);
    if (match === null) continue;
    const name = knownName(match[1]!, names) ?? (meansResult(match[1]!) ? names[0] : undefined);
    const value = name === undefined ? undefined : take(computed[name], Number(match[2]));
    if (value !== undefined) return { value };
  }
  const meant = knownName(key, names);
  if (meant !== undefined) return { value: computed[meant] };
  return meansResult(key) && names.length > 0 ? { value: computed[names[0]!] } : undefined;
}
