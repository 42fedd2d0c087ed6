import t from 'tap';
import { hashU32 } from '../../src/base/random.js';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Op, type Tensor } from '../../src/graph/graph.js';
import { concatColumns } from '../../src/graph/ops/columns.js';
import { addN, mul, scale } from '../../src/graph/ops/elementwise.js';
import { reduceMean, weightedMean } from '../../src/graph/ops/reductions.js';
import { globalStep, group, increment, placeholder, raggedPlaceholder } from '../../src/graph/ops/state.js';
import { type DropoutOptions, dropout } from '../../src/graph/ops/training.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';

const ROWS = 37;
const COLUMNS = 21;
const x = Float32Array.from({ length: ROWS * COLUMNS }, (_, i) => 1 + i / 8);

interface Model {
  readonly graph: Graph;
  readonly out: Tensor;
  readonly grad: Tensor;
  readonly step: Op;
}

function build(options: DropoutOptions): Model {
  const graph = new Graph();
  const input = placeholder(graph, { name: 'x', width: COLUMNS });
  const out = dropout(input, options);
  const [grad] = gradients([scale(reduceMean(out), ROWS * COLUMNS)], [input]);
  return { graph, out, grad: grad!, step: group(graph, [increment(globalStep(graph))]) };
}

/** Outputs and gradients of two training steps, and the output of an evaluation after them. */
async function run(model: Model, options: { threads?: number; seed?: number; backend?: 'wasm' | 'reference' }) {
  return withSession(model.graph, { batchSize: ROWS, ...options }, async (session) => {
    const first = await session.run([model.out, model.grad, model.step], { x });
    const second = await session.run([model.out, model.grad, model.step], { x });
    const [evaluated, slope] = await session.run([model.out, model.grad], { x });
    return { outs: [first[0], second[0]], grads: [first[1], second[1]], evaluated, slope } as {
      outs: Float32Array[];
      grads: Float32Array[];
      evaluated: Float32Array;
      slope: Float32Array;
    };
  });
}

t.test('a share of elements is zero, the others are scaled, and the gradient goes the same way', async (t) => {
  for (const backend of BACKENDS) {
    const { outs, grads } = await run(build({ rate: 0.25, seed: 5 }), { backend, seed: 9 });
    for (const [step, out] of outs.entries()) {
      const stays = (i: number) => hashU32(hashU32(9, 5), step, Math.floor(i / COLUMNS), i % COLUMNS) >= 0.25 * 2 ** 32;
      const factor = Math.fround(1 / 0.75);
      t.same(
        out,
        x.map((value, i) => (stays(i) ? Math.fround(value * factor) : 0)),
        `${backend}, step ${step}`,
      );
      t.same(
        grads[step]!.map((value) => Number(value !== 0)),
        out.map((value) => Number(value !== 0)),
      );
      const share = out.filter((value) => value === 0).length / out.length;
      t.ok(Math.abs(share - 0.25) < 0.06, `${share} of them are zero`);
    }
    t.notSame(outs[0], outs[1], 'another step drops others');
  }
});

t.test('threads do not matter; seeds of the op and of the session do', async (t) => {
  const plain = await run(build({ rate: 0.5 }), { threads: 1 });
  for (const threads of [2, 3]) t.same(await run(build({ rate: 0.5 }), { threads }), plain, `${threads} threads`);
  t.notSame((await run(build({ rate: 0.5, seed: 1 }), {})).outs, plain.outs);
  t.notSame((await run(build({ rate: 0.5 }), { seed: 1 })).outs, plain.outs);
});

t.test('a program that updates nothing evaluates: values stay as they are', async (t) => {
  const { evaluated, slope } = await run(build({ rate: 0.5 }), {});
  t.same(evaluated, x);
  t.ok(
    slope.every((value) => Math.abs(value - 1) < 1e-6),
    'and so does the gradient',
  );
  const never = await run(build({ rate: 0.5, training: false }), {});
  t.same(never.outs, [x, x], 'told never to');
  const always = await run(build({ rate: 0.5, training: true }), {});
  t.ok(always.evaluated.includes(0), 'told always to');
  t.same((await run(build({ rate: 0 }), {})).outs, [x, x], 'a rate of zero');
});

t.test('dropouts of one graph differ, and may be terms and columns of others', async (t) => {
  const graph = new Graph();
  const input = placeholder(graph, { name: 'x', width: COLUMNS });
  const [a, b] = [dropout(input, { rate: 0.5 }), dropout(input, { rate: 0.5 })];
  const sum = addN([dropout(mul(input, input), { rate: 0.5, seed: 0 }), mul(input, input)]);
  const beside = concatColumns([dropout(mul(input, input), { rate: 0.5, seed: 0 }), input]);
  const train = group(graph, [increment(globalStep(graph))]);
  await withSession(graph, { batchSize: ROWS }, async (session) => {
    const [one, two, added, joined] = (await session.run([a, b, sum, beside, train], { x })) as Float32Array[];
    t.notSame(one, two);
    const dropped = (i: number) => (one![i] === 0 ? 0 : 2 * x[i]! * x[i]!);
    t.ok(x.every((value, i) => Math.abs(added![i]! - dropped(i) - value * value) <= 1e-3 * value * value));
    t.ok(x.every((_, i) => joined![Math.floor(i / COLUMNS) * 2 * COLUMNS + (i % COLUMNS)] === dropped(i)));
    const [plainSum, plainJoined] = (await session.run([sum, beside], { x })) as Float32Array[];
    t.ok(x.every((value, i) => Math.abs(plainSum![i]! - 2 * value * value) <= 1e-3 * value * value));
    t.equal(plainJoined![1], x[1]! * x[1]!);
  });
});

t.test('what cannot be dropped is refused', async (t) => {
  const graph = new Graph();
  const input = placeholder(graph, { name: 'x', width: 2 });
  for (const rate of [-0.1, 1, Number.NaN]) t.throws(() => dropout(input, { rate }), { code: 'ML_GRAPH' });
  t.throws(() => dropout(raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 1 }), { rate: 0.5 }), {
    code: 'ML_GRAPH',
  });
});

t.test('a weighted mean divides by the weights of the whole batch', async (t) => {
  const graph = new Graph();
  const [value, wide, weight] = [
    placeholder(graph, { name: 'v' }),
    placeholder(graph, { name: 'w', width: 2 }),
    placeholder(graph, { name: 'weight' }),
  ];
  const fetches = [weightedMean(value, weight), weightedMean(wide, weight)];
  const feeds = {
    v: Float32Array.of(1, 2, 3, 4, 5),
    w: Float32Array.of(1, 1, 2, 2, 3, 3, 4, 4, 5, 7),
    weight: Float32Array.of(0, 1, 0, 0, 3),
  };
  for (const threads of [1, 3]) {
    await withSession(graph, { threads }, async (session) => {
      t.same(await session.run(fetches, feeds), [17 / 4, (2 + 3 * 6) / 4]);
      t.same(await session.run(fetches, { ...feeds, weight: new Float32Array(5) }), [0, 0], 'no weight at all');
    });
  }
  t.throws(() => weightedMean(value, wide), { code: 'ML_GRAPH', fields: { op: 'weightedMean' } });
});

t.test('the gradient of a weighted mean is that of the examples that weigh', async (t) => {
  const graph = new Graph();
  const [value, weight] = [placeholder(graph, { name: 'v', width: 3 }), placeholder(graph, { name: 'weight' })];
  const [grad] = gradients([weightedMean(mul(value, value), weight)], [value]);
  const feeds = {
    v: Float32Array.from({ length: 15 }, (_, i) => i / 7 - 1),
    weight: Float32Array.of(0, 1, 0.5, 2, 3),
  };
  const exact = feeds.v.map((v, i) => (2 * v * feeds.weight[Math.floor(i / 3)]!) / 6.5 / 3);
  for (const backend of BACKENDS) {
    await withSession(graph, { backend }, async (session) => {
      const [found] = (await session.run([grad!], feeds)) as Float32Array[];
      t.ok(
        exact.every((slope, i) => Math.abs(found![i]! - slope) < 1e-6),
        backend,
        { found, exact },
      );
    });
  }
});
