/** @file What ops that bring values in, move them, and work element by element compute. */
import { hashU32 } from '../../src/base/random.js';
import type { Op, Tensor } from '../../src/graph/graph.js';
import * as curves from './curves.js';
import type { Evaluation, Nodes, Rule } from './evaluation.js';
import type { Tape } from './tape.js';

export type Rules = Readonly<Record<string, Rule>>;

/** Attributes of an op, as its rule reads them. */
export const attrsOf = <A>(op: Op): A => op.attrs as A;

/** The output of an op made element by element. */
export function each(op: Op, evaluation: Evaluation, node: (index: number) => number): readonly Nodes[] {
  return [evaluation.made(op.output, node)];
}

/** A rule of one input and one curve. */
const curved = (of: (op: Op) => curves.Curve): Rule => {
  return (op, [x], evaluation) => {
    const curve = of(op);
    return each(op, evaluation, (i) => evaluation.tape.curve(x!.ids[i]!, curve));
  };
};

const view: Rule = (op, [x], evaluation) => each(op, evaluation, (i) => x!.ids[i]!);

/** Which element of `narrow` stands at element i of `wide`: the shapes are equal, or one side is repeated. */
export function spread(wide: Tensor, narrow: Tensor, evaluation: Evaluation): (index: number) => number {
  const count = (tensor: Tensor) => evaluation.sizes(tensor).reduce((product, size) => product * size, 1);
  const [n, m] = [count(wide), count(narrow)];
  const inner = (tensor: Tensor) => (tensor.perExample ? count(tensor) / evaluation.world.rows : count(tensor));
  if (wide.perExample === narrow.perExample && n === m) return (i) => i;
  if (!narrow.perExample && m === 1) return () => 0;
  // One number per example, or per row of a shared matrix, over the columns.
  if (narrow.perExample) return (i) => Math.floor(i / inner(wide));
  const last = evaluation.sizes(wide).at(-1)!;
  if (!wide.perExample && evaluation.sizes(narrow).at(-1) === 1 && m * last === n) return (i) => Math.floor(i / last);
  return (i) => i % m;
}

/** 1 or 0 by a comparison; either where rounding may decide it. */
function comparison(tape: Tape, a: number, b: number, holds: (a: number, b: number) => boolean): number {
  const [x, y, room] = [tape.value(a), tape.value(b), tape.bound(a) + tape.bound(b)];
  return tape.leaf(holds(x, y) ? 1 : 0, room > 0 && Math.abs(x - y) <= room ? 1 : 0);
}

/** The larger of two, or the smaller with `sign` -1. Of equal ones the first gets all of the gradient. */
function larger(tape: Tape, a: number, b: number, sign: 1 | -1): number {
  const off = sign * (tape.value(a) - tape.value(b));
  const room = tape.bound(a) + tape.bound(b);
  const isFirst = off >= 0;
  const open = room > 0 && Math.abs(off) <= room ? 1 : 0;
  const shares = a === b ? [1, 0] : [isFirst ? 1 : 0, isFirst ? 0 : 1];
  const e = Math.max(tape.bound(a), tape.bound(b));
  return tape.pick(tape.value(isFirst ? a : b), e, [a, b], shares, [open, open]);
}

const BINARY: Readonly<Record<string, (tape: Tape, a: number, b: number) => number>> = {
  add: (tape, a, b) => tape.add(a, b),
  sub: (tape, a, b) => tape.sub(a, b),
  mul: (tape, a, b) => tape.mul(a, b),
  div: (tape, a, b) => tape.div(a, b),
  maximum: (tape, a, b) => larger(tape, a, b, 1),
  minimum: (tape, a, b) => larger(tape, a, b, -1),
  greaterEqual: (tape, a, b) => comparison(tape, a, b, (x, y) => x >= y),
  equal: (tape, a, b) => comparison(tape, a, b, (x, y) => x === y),
};

const UNARY: Readonly<Record<string, curves.Curve>> = {
  abs: curves.abs,
  sqrt: curves.sqrt,
  exp: curves.exp,
  log: curves.log,
  log1p: curves.log1p,
  sign: curves.sign,
};
const ACTIVATIONS: Readonly<Record<string, curves.Curve>> = {
  relu: curves.relu,
  sigmoid: curves.sigmoid,
  tanh: curves.tanh,
  gelu: curves.gelu,
  geluTanh: curves.geluTanh,
  swish: curves.swish,
  softplus: curves.softplus,
};
const kindOf = (op: Op): string => attrsOf<{ kind: string }>(op).kind;

const pairwise = (rule: (tape: Tape, a: number, b: number) => number): Rule => {
  return (op, [a, b], evaluation) => each(op, evaluation, (i) => rule(evaluation.tape, a!.ids[i]!, b!.ids[i]!));
};

/** Runs of numbers put together from parts that may overlap; the rest is zero. */
function assembled(
  op: Op,
  evaluation: Evaluation,
  count: number,
  place: (add: (at: number, id: number) => void) => void,
) {
  const terms = Array.from({ length: count }, (): number[] => []);
  place((at, id) => terms[at]!.push(id));
  return each(op, evaluation, (i) => (terms[i]!.length === 1 ? terms[i]![0]! : evaluation.tape.sum(terms[i]!)));
}

export const BASIC_RULES: Rules = {
  Placeholder: (op, _, evaluation) => {
    const value = evaluation.world.feeds.get(op.name);
    if (value === undefined || !('floats' in value)) throw new Error(`${op.name} is no feed of floats`);
    return each(op, evaluation, (i) => evaluation.tape.leaf(value.floats[i]!));
  },
  Const: (op, _, evaluation) => {
    const { values } = attrsOf<{ values: Float32Array }>(op);
    return each(op, evaluation, (i) => evaluation.tape.leaf(values[i]!));
  },
  Variable: (op, _, evaluation) => {
    const values = evaluation.world.variable(op.name);
    return each(op, evaluation, (i) => evaluation.tape.leaf(values[i]!.v, values[i]!.e));
  },
  /** The value of the copy; gradients go to the variable. */
  CachedValue: (op, [variable, cached], evaluation) => {
    const { tape } = evaluation;
    const ids = variable!.ids.map((id, i) => {
      const copy = cached!.ids[i]!;
      return tape.pick(tape.value(copy), tape.bound(copy), [id], [1], [0]);
    });
    return [{ ids, shape: evaluation.sizes(op.output) }];
  },
  Cast: (op, _, evaluation) => {
    const [input] = op.inputs as [Tensor];
    const values = input.op.type === 'Variable' ? [BigInt(evaluation.world.globalStep)] : evaluation.ids(input).flat();
    return each(op, evaluation, (i) => evaluation.tape.leaf(Math.fround(Number(values[i]!))));
  },
  StopGradient: (op, [x], evaluation) => each(op, evaluation, (i) => evaluation.tape.stopped(x!.ids[i]!)),
  Reshape: view,
  BatchSum: view,
  AsPartial: view,
  GatherBatch: view,
  /** A part of BatchMax, which looks at all rows itself. */
  SliceMax: (op, [x], evaluation) => each(op, evaluation, (i) => evaluation.tape.stopped(x!.ids[i]!)),
  IfTraining: (op, [yes, no], evaluation) =>
    each(op, evaluation, (i) => (evaluation.world.training ? yes! : no!).ids[i]!),

  AddN: (op, inputs, evaluation) => each(op, evaluation, (i) => evaluation.tape.sum(inputs.map(({ ids }) => ids[i]!))),
  Sub: pairwise((tape, a, b) => tape.sub(a, b)),
  Mul: pairwise((tape, a, b) => tape.mul(a, b)),
  Scale: (op, [x], evaluation) => {
    const { factor } = attrsOf<{ factor: number }>(op);
    return each(op, evaluation, (i) => evaluation.tape.sum([x!.ids[i]!], factor));
  },
  Binary: (op, [a, b], evaluation) => {
    const [x, y] = op.inputs as [Tensor, Tensor];
    const [ofA, ofB] = [spread(op.output, x, evaluation), spread(op.output, y, evaluation)];
    const rule = BINARY[kindOf(op)]!;
    return each(op, evaluation, (i) => rule(evaluation.tape, a!.ids[ofA(i)]!, b!.ids[ofB(i)]!));
  },
  Unary: curved((op) => UNARY[kindOf(op)]!),
  Activation: curved((op) => ACTIVATIONS[kindOf(op)]!),
  SmoothActivation: curved((op) => ACTIVATIONS[kindOf(op)]!),
  LeakyRelu: curved((op) => curves.leakyRelu(attrsOf<{ slope: number }>(op).slope)),
  ClipByValue: (op, [x], evaluation) => {
    const { tape } = evaluation;
    const { low, high } = attrsOf<{ low: number; high: number }>(op);
    const ids = x!.ids.map((id) => {
      const [v, e] = [tape.value(id), tape.bound(id)];
      const isInside = v >= low && v <= high;
      const open = e > 0 && (Math.abs(v - low) <= e || Math.abs(v - high) <= e) ? 1 : 0;
      const clipped = Math.min(Math.max(v, low), high);
      return tape.pick(clipped, e + 2 ** -24 * Math.abs(clipped), [id], [isInside ? 1 : 0], [open]);
    });
    return [{ ids, shape: x!.shape }];
  },
  /** What falls out is a hash of seed, step, example and column, as the op's page says. */
  Dropout: (op, [x], evaluation) => {
    const { rate, seed, training } = attrsOf<{ rate: number; seed: number; training: boolean | null }>(op);
    const { world, tape } = evaluation;
    if (!(training ?? world.training) || rate === 0) return [x!];
    const limit = Math.round(rate * 2 ** 32) >>> 0;
    const drawn = hashU32(world.seed, seed);
    const width = x!.ids.length / Math.max(1, world.rows);
    return each(op, evaluation, (i) => {
      const stays = hashU32(drawn, world.globalStep, Math.floor(i / width), i % width) >= limit;
      return tape.sum(stays ? [x!.ids[i]!] : [], 1 / (1 - rate));
    });
  },

  Columns: (op, [x], evaluation) => {
    const { start, end } = attrsOf<{ start: number; end: number }>(op);
    const [width, all] = [end - start, op.inputs[0]!.columns];
    return each(op, evaluation, (i) => x!.ids[Math.floor(i / width) * all + start + (i % width)]!);
  },
  AssembleColumns: (op, inputs, evaluation) => {
    const { starts, width } = attrsOf<{ starts: readonly number[]; width: number }>(op);
    const { rows } = evaluation.world;
    return assembled(op, evaluation, rows * width, (add) => {
      inputs.forEach(({ ids }, k) => {
        const columns = op.inputs[k]!.columns;
        for (const [i, id] of ids.entries()) add(Math.floor(i / columns) * width + starts[k]! + (i % columns), id);
      });
    });
  },
  SliceInner: (op, [x], evaluation) => {
    const { step, start, width } = attrsOf<Record<'step' | 'start' | 'width', number>>(op);
    return each(op, evaluation, (i) => x!.ids[Math.floor(i / width) * step + start + (i % width)]!);
  },
  AssembleBlocks: (op, inputs, evaluation) => {
    const { blocks, step, parts } = attrsOf<{
      blocks: number;
      step: number;
      parts: readonly { start: number; width: number }[];
    }>(op);
    return assembled(op, evaluation, evaluation.world.rows * blocks * step, (add) => {
      inputs.forEach(({ ids }, k) => {
        const { start, width } = parts[k]!;
        for (const [i, id] of ids.entries()) add(Math.floor(i / width) * step + start + (i % width), id);
      });
    });
  },
  TransposeInner: (op, [x], evaluation) => {
    const { n, inner } = attrsOf<{ n: number; inner: number }>(op);
    return each(op, evaluation, (i) => {
      const [matrix, at] = [Math.floor(i / (n * inner)), i % (n * inner)];
      return x!.ids[matrix * n * inner + (at % n) * inner + Math.floor(at / n)]!;
    });
  },
  GatherInner: (op, [x], evaluation) => {
    const { n, inner, indices } = attrsOf<{ n: number; inner: number; indices: readonly number[] }>(op);
    return each(op, evaluation, (i) => {
      const [c, k, block] = [i % inner, Math.floor(i / inner) % indices.length, Math.floor(i / inner / indices.length)];
      return x!.ids[(block * n + indices[k]!) * inner + c]!;
    });
  },
  BroadcastInner: (op, [x], evaluation) => {
    const { n, inner, factor } = attrsOf<{ n: number; inner: number; factor: number }>(op);
    return each(op, evaluation, (i) => {
      const id = x!.ids[Math.floor(i / (n * inner)) * inner + (i % inner)]!;
      return factor === 1 ? id : evaluation.tape.sum([id], factor);
    });
  },
  SequenceMask: (op, _, evaluation) => {
    const { n } = attrsOf<{ n: number }>(op);
    const rows = evaluation.ids(op.inputs[0]!);
    return each(op, evaluation, (i) => evaluation.tape.leaf(i % n < rows[Math.floor(i / n)]!.length ? 1 : 0));
  },
  EmbeddingLookup: (op, _, evaluation) => {
    const { table, pooling } = attrsOf<{ table: { name: string }; pooling: string | { firstN: number } }>(op);
    const rows = evaluation.ids(op.inputs[0]!);
    const n = typeof pooling === 'object' ? pooling.firstN : 1;
    const dim = op.output.columns / n;
    const rowOf = (id: bigint) => evaluation.rowOf(op, table.name, dim, id);
    // Rows of ids that a sequence leaves out are rows of the feature all the same.
    const read = rows.map((ids) => ids.map(rowOf));
    return each(op, evaluation, (i) => {
      const [r, position, c] = [Math.floor(i / (n * dim)), Math.floor(i / dim) % n, i % dim];
      const list = read[r]!;
      if (typeof pooling === 'object') return list[position]?.[c] ?? evaluation.tape.leaf(0);
      return evaluation.tape.sum(
        list.map((row) => row[c]!),
        pooling === 'mean' ? 1 / Math.max(1, list.length) : 1,
      );
    });
  },
};
