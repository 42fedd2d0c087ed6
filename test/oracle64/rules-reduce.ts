/** @file What sums, products, norms and the larger of many compute. */
import type { Op } from '../../src/graph/graph.js';
import * as curves from './curves.js';
import type { Evaluation, Nodes, Rule } from './evaluation.js';
import { attrsOf, each, type Rules, spread } from './rules-basic.js';
import type { Tape } from './tape.js';

/** The largest of some numbers; those that have it share its gradient. */
function largest(tape: Tape, nodes: readonly number[]): number {
  const most = Math.max(...nodes.map((node) => tape.value(node)));
  const room = Math.max(...nodes.map((node) => tape.bound(node)));
  const near = nodes.map((node) => tape.value(node) + tape.bound(node) >= most - room);
  const among = nodes.filter((_, i) => near[i]);
  // Equal without doubt, or one alone: known. Numbers that rounding may tell apart or not: open.
  const known = among.length === 1 || among.every((node) => tape.value(node) === most && tape.bound(node) === 0);
  const shares = nodes.map((_, i) => (near[i] ? 1 / among.length : 0));
  const open = nodes.map((_, i) => (near[i] && !known ? 1 : 0));
  return tape.pick(most, room, nodes, shares, open);
}

const groups = (ids: Int32Array, width: number): number[][] =>
  Array.from({ length: ids.length / width }, (_, g) => [...ids.subarray(g * width, (g + 1) * width)]);

/** Numbers along an axis that cuts rows in [outer, n, inner]. */
const along = ({ n, inner }: { n: number; inner: number }, ids: Int32Array, i: number): number[] => {
  const first = Math.floor(i / inner) * n * inner + (i % inner);
  return Array.from({ length: n }, (_, k) => ids[first + k * inner]!);
};

/** exp(x - largest) of those that count, and their sum. */
export function exponentials(tape: Tape, x: readonly number[], counts: readonly boolean[] = x.map(() => true)) {
  const used = x.filter((_, i) => counts[i]);
  if (used.length === 0) return undefined;
  const top = used.reduce((best, node) => (tape.value(node) > tape.value(best) ? node : best));
  const pivot = tape.stopped(top);
  const powers = x.map((node, i) => (counts[i] ? tape.curve(tape.sub(node, pivot), curves.exp) : undefined));
  return { pivot, powers, sum: tape.sum(powers.filter((power) => power !== undefined)) };
}

interface Strides {
  readonly group: number;
  readonly row: number;
  readonly col: number;
}
type BatchMatMulAttrs = Record<'groups' | 'm' | 'n' | 'k', number> & Record<'a' | 'b' | 'c', Strides>;

function matMul(op: Op, [a, b]: readonly Nodes[], evaluation: Evaluation): readonly Nodes[] {
  const { transposeA, transposeB } = attrsOf<{ transposeA: boolean; transposeB: boolean }>(op);
  const [ar, ac] = a!.shape as [number, number];
  const [br, bc] = b!.shape as [number, number];
  const [k, n] = [transposeA ? ar : ac, transposeB ? br : bc];
  const lefts = Array.from({ length: transposeA ? ac : ar }, (_, i) =>
    Array.from({ length: k }, (_, p) => a!.ids[transposeA ? p * ac + i : i * ac + p]!),
  );
  const rights = Array.from({ length: n }, (_, j) =>
    Array.from({ length: k }, (_, p) => b!.ids[transposeB ? j * bc + p : p * bc + j]!),
  );
  return each(op, evaluation, (i) => evaluation.tape.dot(lefts[Math.floor(i / n)]!, rights[i % n]!));
}

function batchMatMul(op: Op, [a, b]: readonly Nodes[], evaluation: Evaluation): readonly Nodes[] {
  const { groups, m, n, k, a: left, b: right, c } = attrsOf<BatchMatMulAttrs>(op);
  const [x, y] = op.inputs.map(({ columns }) => columns) as [number, number];
  const { rows } = evaluation.world;
  const ids = new Int32Array(rows * op.output.columns);
  for (let r = 0; r < rows; r++) {
    for (let g = 0; g < groups; g++) {
      for (let i = 0; i < m; i++) {
        for (let j = 0; j < n; j++) {
          const [us, vs]: [number[], number[]] = [[], []];
          for (let p = 0; p < k; p++) {
            us.push(a!.ids[r * x + g * left.group + i * left.row + p * left.col]!);
            vs.push(b!.ids[r * y + g * right.group + p * right.row + j * right.col]!);
          }
          ids[r * op.output.columns + g * c.group + i * c.row + j * c.col] = evaluation.tape.dot(us, vs);
        }
      }
    }
  }
  return [{ ids, shape: evaluation.sizes(op.output) }];
}

/** The mean, and one over the root of variance and epsilon, of a row. */
function layerNorm(op: Op, [x, gain, bias]: readonly Nodes[], evaluation: Evaluation): readonly Nodes[] {
  const { tape } = evaluation;
  const { epsilon } = attrsOf<{ epsilon: number }>(op);
  const width = op.output.columns;
  const [out, stats]: [number[], number[]] = [[], []];
  for (const row of groups(x!.ids, width)) {
    const mean = tape.sum(row, 1 / width);
    const centred = row.map((node) => tape.sub(node, mean));
    const variance = tape.shift(tape.sum([tape.dot(centred, centred)], 1 / width), epsilon);
    const root = tape.curve(variance, curves.sqrt);
    for (const [c, node] of centred.entries()) {
      out.push(tape.add(tape.mul(tape.div(node, root), gain!.ids[c]!), bias!.ids[c]!));
    }
    stats.push(tape.stopped(mean), tape.stopped(tape.div(tape.leaf(1), root)));
  }
  return [out, stats].map((nodes, k) => ({ ids: Int32Array.from(nodes), shape: evaluation.sizes(op.outputs[k]!) }));
}

const reduced: Rule = (op, [x], evaluation) => {
  const { perBatch } = attrsOf<{ perBatch: boolean }>(op);
  const terms = evaluation.made(op.output, () => 0).ids.length;
  const lists = Array.from({ length: terms }, (): number[] => []);
  const of = spread(op.inputs[0]!, op.output, evaluation);
  for (const [i, id] of x!.ids.entries()) lists[of(i)]!.push(id);
  const factor = perBatch ? 1 / evaluation.world.rows : 1;
  return each(op, evaluation, (i) => evaluation.tape.sum(lists[i]!, factor));
};

export const REDUCE_RULES: Rules = {
  MatMul: matMul,
  BatchMatMul: batchMatMul,
  MatMulInner: (op, [x, w], evaluation) => {
    const [rows, cols] = w!.shape as [number, number];
    const { transposeB } = attrsOf<{ transposeB: boolean }>(op);
    const [k, n] = transposeB ? [cols, rows] : [rows, cols];
    const columns = Array.from({ length: n }, (_, j) =>
      Array.from({ length: k }, (_, p) => w!.ids[transposeB ? j * cols + p : p * cols + j]!),
    );
    const lines = groups(x!.ids, k);
    return each(op, evaluation, (i) => evaluation.tape.dot(lines[Math.floor(i / n)]!, columns[i % n]!));
  },
  BiasAdd: (op, [x, bias], evaluation) =>
    each(op, evaluation, (i) => evaluation.tape.add(x!.ids[i]!, bias!.ids[i % bias!.ids.length]!)),
  ScaleColumns: (op, [x, factors], evaluation) =>
    each(op, evaluation, (i) => evaluation.tape.mul(x!.ids[i]!, factors!.ids[i % factors!.ids.length]!)),
  Prelu: (op, [x, slopes], evaluation) => {
    const { tape } = evaluation;
    return each(op, evaluation, (i) => {
      const [node, slope] = [x!.ids[i]!, slopes!.ids[i % slopes!.ids.length]!];
      return tape.add(tape.curve(node, curves.relu), tape.mul(tape.curve(node, curves.below), slope));
    });
  },
  Shared: (op, [x, v], evaluation) => {
    const { kind } = attrsOf<{ kind: 'add' | 'mul' }>(op);
    const { tape } = evaluation;
    return each(op, evaluation, (i) => {
      const [a, b] = [x!.ids[i]!, v!.ids[i % v!.ids.length]!];
      return kind === 'add' ? tape.add(a, b) : tape.mul(a, b);
    });
  },

  RowDot: (op, [a, b], evaluation) => {
    const [lefts, rights] = [a!, b!].map(({ ids }) => groups(ids, op.inputs[0]!.columns)) as [number[][], number[][]];
    return each(op, evaluation, (r) => evaluation.tape.dot(lefts[r]!, rights[r]!));
  },
  GroupDot: (op, [a, b], evaluation) => {
    const width = a!.shape.at(-1)!;
    const [lefts, rights] = [a!, b!].map(({ ids }) => groups(ids, width)) as [number[][], number[][]];
    return each(op, evaluation, (r) => evaluation.tape.dot(lefts[r]!, rights[r]!));
  },
  ScaleRows: (op, [factors, x], evaluation) => {
    const width = op.output.columns;
    return each(op, evaluation, (i) => evaluation.tape.mul(factors!.ids[Math.floor(i / width)]!, x!.ids[i]!));
  },
  ScaleGroups: (op, [factors, x], evaluation) => {
    const width = x!.shape.at(-1)!;
    return each(op, evaluation, (i) => evaluation.tape.mul(factors!.ids[Math.floor(i / width)]!, x!.ids[i]!));
  },
  PairProducts: (op, [left, right], evaluation) => {
    const { lefts, rights, dim } = attrsOf<Record<'lefts' | 'rights' | 'dim', number>>(op);
    return each(op, evaluation, (i) => {
      const [c, q, l] = [i % dim, Math.floor(i / dim) % rights, Math.floor(i / dim / rights) % lefts];
      const row = Math.floor(i / (dim * rights * lefts));
      return evaluation.tape.mul(left!.ids[(row * lefts + l) * dim + c]!, right!.ids[(row * rights + q) * dim + c]!);
    });
  },
  Cin: (op, [left, right, w], evaluation) => {
    const { lefts, rights, dim, outs } = attrsOf<Record<'lefts' | 'rights' | 'dim' | 'outs', number>>(op);
    const { tape } = evaluation;
    const ids = new Int32Array(evaluation.world.rows * outs * dim);
    for (let r = 0; r < evaluation.world.rows; r++) {
      for (let c = 0; c < dim; c++) {
        const products = Array.from({ length: lefts * rights }, (_, p) => {
          const [l, q] = [Math.floor(p / rights), p % rights];
          return tape.mul(left!.ids[(r * lefts + l) * dim + c]!, right!.ids[(r * rights + q) * dim + c]!);
        });
        for (let o = 0; o < outs; o++) {
          const weights = products.map((_, p) => w!.ids[p * outs + o]!);
          ids[(r * outs + o) * dim + c] = tape.dot(products, weights);
        }
      }
    }
    return [{ ids, shape: evaluation.sizes(op.output) }];
  },
  /** As it is computed: half of the square of the sum less the sum of squares. */
  FmPairs: (op, [x], evaluation) => {
    const { fields, dim } = attrsOf<{ fields: number; dim: number }>(op);
    const { tape } = evaluation;
    return each(op, evaluation, (r) => {
      const sums = Array.from({ length: dim }, (_, c) =>
        tape.sum(Array.from({ length: fields }, (_, f) => x!.ids[(r * fields + f) * dim + c]!)),
      );
      const row = [...x!.ids.subarray(r * fields * dim, (r + 1) * fields * dim)];
      return tape.sum([tape.sub(tape.dot(sums, sums), tape.dot(row, row))], 0.5);
    });
  },

  Mean: (op, [x], evaluation) => each(op, evaluation, () => evaluation.tape.sum(x!.ids, 1 / x!.ids.length)),
  Sum: reduced,
  BroadcastTo: (op, [x], evaluation) => {
    const { perBatch } = attrsOf<{ perBatch: boolean }>(op);
    const of = spread(op.output, op.inputs[0]!, evaluation);
    const factor = perBatch ? 1 / evaluation.world.rows : 1;
    return each(op, evaluation, (i) => (factor === 1 ? x!.ids[of(i)]! : evaluation.tape.sum([x!.ids[of(i)]!], factor)));
  },
  SumInner: (op, [x], evaluation) => {
    const attrs = attrsOf<{ n: number; inner: number; factor: number }>(op);
    return each(op, evaluation, (i) => evaluation.tape.sum(along(attrs, x!.ids, i), attrs.factor));
  },
  MaxInner: (op, [x], evaluation) => {
    const attrs = attrsOf<{ n: number; inner: number }>(op);
    return each(op, evaluation, (i) => largest(evaluation.tape, along(attrs, x!.ids, i)));
  },
  Max: (op, [x], evaluation) => {
    const rows = groups(x!.ids, op.inputs[0]!.columns);
    return each(op, evaluation, (r) => largest(evaluation.tape, rows[r]!));
  },
  BatchMax: (op, [, x], evaluation) => {
    const width = op.inputs[1]!.columns;
    return each(op, evaluation, (c) => largest(evaluation.tape, [...x!.ids.filter((_, i) => i % width === c)]));
  },
  TopK: (op, [x], evaluation) => {
    const { width, k } = attrsOf<{ width: number; k: number }>(op);
    const { tape } = evaluation;
    const [values, indices]: [number[], number[]] = [[], []];
    for (const row of groups(x!.ids, width)) {
      const order = row.map((_, i) => i).sort((a, b) => tape.value(row[b]!) - tape.value(row[a]!) || a - b);
      const room = Math.max(...row.map((node) => tape.bound(node)));
      order.slice(0, k).forEach((at) => {
        // Those it may have to change places with when values are rounded.
        const open = row.map((node, i) =>
          i !== at && room > 0 && Math.abs(tape.value(node) - tape.value(row[at]!)) <= 2 * room ? 1 : 0,
        );
        if (open.includes(1)) open[at] = 1;
        const shares = row.map((_, i) => (i === at ? 1 : 0));
        values.push(tape.pick(tape.value(row[at]!), room, row, shares, open));
        indices.push(tape.leaf(at, open.includes(1) ? width : 0));
      });
    }
    return [values, indices].map((nodes, i) => ({
      ids: Int32Array.from(nodes),
      shape: evaluation.sizes(op.outputs[i]!),
    }));
  },

  LayerNorm: layerNorm,
  L2Normalize: (op, [x], evaluation) => {
    const { epsilon } = attrsOf<{ epsilon: number }>(op);
    const { tape } = evaluation;
    const ids = groups(x!.ids, op.output.columns).flatMap((row) => {
      const squares = tape.dot(row, row);
      const [v, e] = [tape.value(squares), tape.bound(squares)];
      // A sum of squares below epsilon counts as epsilon, and then passes nothing on.
      const open = e > 0 && Math.abs(v - epsilon) <= e ? 1 : 0;
      const held = tape.pick(Math.max(v, epsilon), e + 2 ** -24 * epsilon, [squares], [v > epsilon ? 1 : 0], [open]);
      const root = tape.curve(held, curves.sqrt);
      return row.map((node) => tape.div(node, root));
    });
    return [{ ids: Int32Array.from(ids), shape: x!.shape }];
  },
  Softmax: (op, [x, mask], evaluation) => {
    const { width, groups: perRow } = attrsOf<{ width: number; groups: number }>(op);
    const { tape } = evaluation;
    const ids = groups(x!.ids, width).flatMap((row, g) => {
      const shared = mask !== undefined && mask.ids.length !== x!.ids.length;
      const first = (shared ? Math.floor(g / perRow) : g) * width;
      const masks = row.map((_, i) => mask?.ids[first + i]);
      const counts = masks.map((id) => id === undefined || tape.value(id) !== 0);
      // A mask that rounding decides leaves the whole group open.
      if (masks.some((id) => id !== undefined && tape.bound(id) > 0)) {
        const [none, open] = [row.map(() => 0), row.map(() => 1)];
        return row.map(() => tape.pick(0.5, 0.5, row, none, open));
      }
      const parts = exponentials(tape, row, counts);
      return row.map((_, i) => (parts?.powers[i] === undefined ? tape.leaf(0) : tape.div(parts.powers[i]!, parts.sum)));
    });
    return [{ ids: Int32Array.from(ids), shape: x!.shape }];
  },
  /** The divisor passes no gradient on; nothing divided by nothing is nothing. */
  DivideByScalar: (op, [x, divisor], evaluation) => {
    const by = evaluation.tape.stopped(divisor!.ids[0]!);
    const { tape } = evaluation;
    return each(op, evaluation, (i) => (tape.value(by) === 0 ? tape.leaf(0) : tape.div(x!.ids[i]!, by)));
  },
};
