/**
 * @file Random graphs of per-example ops, and a plain evaluator of them in f64 that knows nothing of the runtime.
 *
 * A recipe is a list of numbers; each step picks its operands among the tensors made so far. All ops are polynomials of
 * the feeds, so that differences of the evaluator give exact gradients.
 */
import fc from 'fast-check';
import type { Tensor } from '../../src/graph/graph.js';
import {
  addN,
  assembleColumns,
  columns,
  concatColumns,
  mul,
  rowDot,
  scale,
  scaleRows,
  sub,
} from '../../src/graph/ops/math.js';

export interface Step {
  readonly kind: number;
  readonly picks: readonly number[];
}

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ kind: fc.nat({ max: 8 }), picks: fc.array(fc.nat(), { minLength: 4, maxLength: 6 }) }),
  { minLength: 1, maxLength: 12 },
);

/** A value per row and column, and the sum of the sizes that went into it: the scale of rounding errors. */
export interface Plain {
  readonly columns: number;
  value(row: number): number[];
  size(row: number): number[];
}

export interface Node {
  readonly tensor: Tensor;
  readonly plain: Plain;
}

/** Values are remembered until this changes: whoever changes a feed counts it up. */
export const epoch = { now: 0 };

type Rule = (rows: number[][]) => number[];

function node(tensor: Tensor, inputs: readonly Node[], rule: Rule, sizeRule: Rule = rule): Node {
  const memo = new Map<string, number[]>();
  const eat = (what: 'value' | 'size', apply: Rule) => (row: number) => {
    const key = `${epoch.now} ${what} ${row}`;
    if (!memo.has(key)) memo.set(key, apply(inputs.map((input) => input.plain[what](row))));
    return memo.get(key)!;
  };
  return { tensor, plain: { columns: tensor.columns, value: eat('value', rule), size: eat('size', sizeRule) } };
}

export function leaf(tensor: Tensor, values: ArrayLike<number>): Node {
  const width = tensor.columns;
  const value = (row: number) => Array.from({ length: width }, (_, c) => values[row * width + c]!);
  return { tensor, plain: { columns: width, value, size: (row) => value(row).map(Math.abs) } };
}

/** Adds the tensor of one step to `nodes`. A pick that finds no fitting operand takes the first one again. */
export function addStep(nodes: Node[], { kind, picks }: Step): void {
  const any = (index: number, fits: (node: Node) => boolean = () => true) => {
    const fitting = nodes.filter(fits);
    return fitting[picks[index % picks.length]! % fitting.length]!;
  };
  const first = any(0);
  const like = (index: number) => any(index, ({ plain }) => plain.columns === first.plain.columns);
  const tensors = (list: readonly Node[]) => list.map(({ tensor }) => tensor);
  const single = () => any(1, ({ plain }) => plain.columns === 1);
  switch (kind) {
    case 0:
    case 1: {
      const terms = [first, ...picks.slice(1, 2 + (picks[1]! % 3)).map((_, index) => like(index + 1))];
      const total: Rule = (rows) => rows[0]!.map((_, c) => rows.reduce((sum, row) => sum + row[c]!, 0));
      nodes.push(node(addN(tensors(terms)), terms, total));
      return;
    }
    case 2: {
      const pair = [first, like(1)] as const;
      const less: Rule = ([a, b]) => a!.map((x, c) => x - b![c]!);
      const more: Rule = ([a, b]) => a!.map((x, c) => x + b![c]!);
      nodes.push(node(sub(pair[0].tensor, pair[1].tensor), pair, less, more));
      return;
    }
    case 3: {
      const pair = [first, like(1)] as const;
      nodes.push(node(mul(pair[0].tensor, pair[1].tensor), pair, ([a, b]) => a!.map((x, c) => x * b![c]!)));
      return;
    }
    case 4: {
      const pair = [first, like(1)] as const;
      const dot: Rule = ([a, b]) => [a!.reduce((sum, x, c) => sum + x * b![c]!, 0)];
      nodes.push(node(rowDot(pair[0].tensor, pair[1].tensor), pair, dot));
      return;
    }
    case 5: {
      const factor = single();
      const scaled: Rule = ([f, x]) => x!.map((value) => f![0]! * value);
      nodes.push(node(scaleRows(factor.tensor, first.tensor), [factor, first], scaled));
      return;
    }
    case 6: {
      const start = picks[1]! % first.plain.columns;
      const end = start + 1 + (picks[2]! % (first.plain.columns - start));
      nodes.push(node(columns(first.tensor, start, end), [first], ([x]) => x!.slice(start, end)));
      return;
    }
    case 7: {
      const factor = [-1, 0.5, 2][picks[1]! % 3]!;
      nodes.push(
        node(
          scale(first.tensor, factor),
          [first],
          ([x]) => x!.map((value) => factor * value),
          ([x]) => x!.map((value) => Math.abs(factor) * value),
        ),
      );
      return;
    }
    default:
      nodes.push(assemble(nodes, picks));
  }
}

/** Some nodes at places that may overlap, or side by side. */
function assemble(nodes: readonly Node[], picks: readonly number[]): Node {
  const parts = picks.slice(1).map((pick) => nodes[pick % nodes.length]!);
  if (picks[0]! % 3 === 0) {
    const joined = concatColumns(parts.slice(0, 3).map(({ tensor }) => tensor));
    return node(joined, parts.slice(0, 3), (rows) => rows.flat());
  }
  const wide = nodes.reduce((a, b) => (b.plain.columns > a.plain.columns ? b : a));
  const width = wide.plain.columns;
  const starts = parts.map(({ plain }, index) => picks[index]! % (width - plain.columns + 1));
  const tensor = assembleColumns(
    wide.tensor,
    parts.map((part, index) => ({ start: starts[index]!, grad: part.tensor })),
  );
  return node(tensor, parts, (rows) => {
    const out = new Array<number>(width).fill(0);
    rows.forEach((row, index) => {
      row.forEach((value, c) => {
        out[starts[index]! + c]! += value;
      });
    });
    return out;
  });
}
