import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { scale } from '../../src/graph/ops/elementwise.js';
import { inbatchSoftmaxLoss } from '../../src/graph/ops/inbatch-softmax.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceSum } from '../../src/graph/ops/reductions.js';
import { placeholder } from '../../src/graph/ops/state.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';

const [B, D, T] = [7, 5, 0.5];
const u = Float32Array.from({ length: B * D }, (_, i) => Math.sin(i * 1.7));
const v = Float32Array.from({ length: B * D }, (_, i) => Math.cos(i * 0.9));
const weights = Float32Array.from({ length: B }, (_, i) => i / 3);

/** The weighted loss in doubles. */
function plain(users: ArrayLike<number>, items: ArrayLike<number>): number {
  let loss = 0;
  for (let i = 0; i < B; i++) {
    const scores = Array.from({ length: B }, (_, j) => {
      let sum = 0;
      for (let k = 0; k < D; k++) sum += users[i * D + k]! * items[j * D + k]!;
      return sum / T;
    });
    const total = Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0));
    loss += weights[i]! * (total - scores[i]!);
  }
  return loss;
}

/** The slope of the loss by each float of one side. */
function slopes(side: 'users' | 'items'): number[] {
  const step = 1e-5;
  return Array.from(side === 'users' ? u : v, (_, at) => {
    const moved = (by: number) => {
      const list = [...(side === 'users' ? u : v)];
      list[at]! += by;
      return side === 'users' ? plain(list, v) : plain(u, list);
    };
    return (moved(step) - moved(-step)) / (2 * step);
  });
}

t.test('the in-batch softmax sees the whole batch, whatever the slices, and so do its gradients', async (t) => {
  const wanted = [slopes('users'), slopes('items')];
  for (const backend of BACKENDS) {
    for (const threads of [1, 3]) {
      const graph = new Graph();
      const of = (name: string, width: number) => placeholder(graph, { name, width });
      const [users, items, weight] = [of('u', D), of('v', D), of('w', 1)];
      const loss = reduceSum(inbatchSoftmaxLoss(scale(users, 1), items, { temperature: T, weights: weight }));
      const grads = gradients([loss], [users, items]) as Tensor[];
      await withSession(graph, { backend, threads }, async (session) => {
        const [value, ...found] = await session.run([loss, ...grads], { u, v, w: weights });
        t.ok(Math.abs((value as number) - plain(u, v)) < 1e-4, `${backend} ${threads}`);
        found.forEach((grad, side) => {
          const off = wanted[side]!.map((slope, at) => Math.abs(slope - (grad as Float32Array)[at]!));
          t.ok(Math.max(...off) < 1e-3, `${side === 0 ? 'users' : 'items'} ${Math.max(...off)}`);
        });
      });
    }
  }
});

t.test('towers that do not fit are told', async (t) => {
  const graph = new Graph();
  const [a, b] = [placeholder(graph, { name: 'a', width: 3 }), placeholder(graph, { name: 'b', width: 4 })];
  t.throws(() => inbatchSoftmaxLoss(a, b), { code: 'ML_GRAPH', message: /no dot products with \[batch, 4\]/ });
  t.throws(() => inbatchSoftmaxLoss(a, a, { temperature: 0 }), { code: 'ML_GRAPH', message: /temperature of 0/ });
  t.throws(() => inbatchSoftmaxLoss(a, a, { temp: 1 } as object), { code: 'ML_OPTION', hint: /temperature/ });
});

t.test(
  'scores of a batch against itself, which no product gives, are refused with the loss that has them',
  async (t) => {
    const graph = new Graph();
    const [users, items] = ['users', 'items'].map((name) => placeholder(graph, { name, width: D })) as [Tensor, Tensor];
    const product = () => matMul(users, items, { transposeB: true });
    t.throws(product, { code: 'ML_GRAPH', hint: /inbatchSoftmaxLoss/ });
  },
);
