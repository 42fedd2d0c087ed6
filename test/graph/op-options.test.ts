/** @file One rule for ops: `(operands…, options?)`, `name` among the options, and nothing else in them. */
import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph } from '../../src/graph/graph.js';
import { leakyRelu, relu } from '../../src/graph/ops/activations.js';
import { inbatchAucLoss } from '../../src/graph/ops/inbatch-auc.js';
import { sumInner } from '../../src/graph/ops/inner.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { constant, placeholder, variable } from '../../src/graph/ops/state.js';

t.test('an op has the name that its options say', async (t) => {
  const x = placeholder(new Graph(), { name: 'x', width: 2 });
  t.equal(relu(x, { name: 'y' }).op.name, 'y');
  t.equal(relu(x).op.name, 'Relu');
  t.equal(relu(x, { name: undefined }).op.name, 'Relu_1', 'undefined is no name');
  const [, grad] = gradients([reduceMean(x)], [x, x], { name: 'backwards' });
  t.match(grad?.op.name, /^backwards\//);
});

t.test('an option that an op does not have is refused with the nearest one', async (t) => {
  const x = placeholder(new Graph(), { name: 'x', width: 2 });
  t.throws(() => leakyRelu(x, { slop: 0.1 } as object), { code: 'ML_OPTION', message: /slop/, hint: /slope/ });
  t.throws(() => sumInner(x, { axes: 1 } as object), { code: 'ML_OPTION', hint: /axis/ });
  t.throws(() => inbatchAucLoss(x, x, { weight: 1 } as object), { code: 'ML_OPTION', hint: /negWeight/ });
  t.throws(
    () => variable(x.graph, { name: 'w', shape: [1], initial: () => new Float32Array(1), train: false } as never),
    {
      code: 'ML_OPTION',
      hint: /trainable/,
    },
  );
});

t.test('a name that is no option is refused', async (t) => {
  const x = placeholder(new Graph(), { name: 'x' });
  t.throws(() => relu(x, 'y' as never), { code: 'ML_OPTION', hint: /name/ });
  t.throws(() => [x].map(relu as never), { code: 'ML_OPTION' }, 'nor an index, as of map');
});

t.test('a constant has the shape of what it is made of', async (t) => {
  const graph = new Graph();
  t.same(constant(graph, 3).spec.shape, []);
  t.same(constant(graph, [1, 2, 3]).spec.shape, [3]);
  t.same(constant(graph, [1, 2, 3, 4], { shape: [2, 2] }).spec.shape, [2, 2]);
  t.throws(() => constant(graph, [1, 2, 3], { shape: [2, 2] }), { code: 'ML_GRAPH' });
});
