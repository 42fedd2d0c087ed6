/**
 * @file Random graphs of per-example ops and of statistics of the batch, and a plain evaluator of them in f64 that
 * knows nothing of the runtime.
 *
 * A recipe is a list of numbers; each step picks its operands among the tensors made so far. All ops are smooth, so
 * that differences of the evaluator give good gradients.
 */
import fc from 'fast-check';
import type { Tensor } from '../../src/graph/graph.js';
import { batchSum } from '../../src/graph/ops/batch-sum.js';
import { assembleColumns, columns, concatColumns } from '../../src/graph/ops/columns.js';
import { add, addN, binary, div, mul, scale, sub } from '../../src/graph/ops/elementwise.js';
import { reduceMean, reduceSum } from '../../src/graph/ops/reductions.js';
import { rowDot, scaleRows } from '../../src/graph/ops/rows.js';
import { sqrt, square } from '../../src/graph/ops/unary.js';

export interface Step {
  readonly kind: number;
  readonly picks: readonly number[];
}

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ kind: fc.nat({ max: 13 }), picks: fc.array(fc.nat(), { minLength: 4, maxLength: 6 }) }),
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

/** Values are remembered until this changes: whoever changes a feed counts it up. `rows` is the size of the batch. */
export const epoch = { now: 0, rows: 0 };

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

type BatchRule = (row: number[], all: number[][]) => number[];

/** A node whose rows are made of the row of the first input and all rows of the last one. */
function batchNode(tensor: Tensor, inputs: readonly Node[], rule: BatchRule, sizeRule: BatchRule = rule): Node {
  const memo = new Map<string, number[]>();
  const eat = (what: 'value' | 'size', apply: BatchRule) => (row: number) => {
    const key = `${epoch.now} ${epoch.rows} ${what} ${row}`;
    if (!memo.has(key)) {
      const all = Array.from({ length: epoch.rows }, (_, index) => inputs.at(-1)!.plain[what](index));
      memo.set(key, apply(inputs[0]!.plain[what](row), all));
    }
    return memo.get(key)!;
  };
  return { tensor, plain: { columns: tensor.columns, value: eat('value', rule), size: eat('size', sizeRule) } };
}

/** Mean of each column. */
function means(all: number[][], of: (value: number, column: number) => number = (value) => value): number[] {
  return all[0]!.map((_, c) => all.reduce((sum, row) => sum + of(row[c]!, c), 0) / all.length);
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
    case 8:
      nodes.push(assemble(nodes, picks));
      return;
    default:
      nodes.push(statistic(kind, first, like(1), single()));
  }
}

/** Broadcasts, reductions and sums over the batch that are completed within the step. */
function statistic(kind: number, first: Node, like: Node, single: Node): Node {
  const x = first.tensor;
  const batchMean = (tensor: Tensor) => batchSum(reduceMean(tensor, { axis: 'batch' }));
  switch (kind) {
    case 9: {
      const spread: Rule = ([a, b]) => a!.map((value) => value + b![0]! * value);
      return node(binary('add', x, binary('mul', single.tensor, x)), [first, single], spread);
    }
    case 10: {
      const mean: Rule = ([a]) => [a!.reduce((sum, value) => sum + value, 0) / a!.length];
      return node(reduceMean(x, { axis: 'columns' }), [first], mean);
    }
    case 11: {
      const scaled: BatchRule = (row, all) => means(all).map((mean, c) => mean * row[c]!);
      return batchNode(binary('mul', x, batchMean(like.tensor)), [first, like], scaled);
    }
    case 12: {
      // One number of the whole batch, to every element.
      const raised: BatchRule = (row, all) => {
        const sum = all.flat().reduce((total, value) => total + value, 0);
        return row.map((value) => value + 0.1 * sum);
      };
      return batchNode(binary('add', x, scale(batchSum(reduceSum(like.tensor)), 0.1)), [first, like], raised);
    }
    default: {
      const centred = sub(x, batchMean(x));
      const variance = batchMean(square(centred));
      const normal: BatchRule = (row, all) => {
        const mean = means(all);
        const spread = means(all, (value, c) => (value - mean[c]!) ** 2);
        return row.map((value, c) => (value - mean[c]!) / Math.sqrt(spread[c]! + 1));
      };
      // Rounding of the variance comes in by its size, over a root that is at least one.
      const size: BatchRule = (row, all) => {
        const mean = means(all);
        const spread = means(all, (value, c) => (value + mean[c]!) ** 2);
        return row.map((value, c) => (value + mean[c]!) * (1 + spread[c]!));
      };
      return batchNode(div(centred, sqrt(add(variance, 1))), [first], normal, size);
    }
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
