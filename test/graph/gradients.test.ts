import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type OpDef, type Tensor } from '../../src/graph/graph.js';
import { AssembleColumns, columns, concatColumns } from '../../src/graph/ops/columns.js';
import { addN, mul, scale } from '../../src/graph/ops/elementwise.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { rowDot, scaleRows } from '../../src/graph/ops/rows.js';
import { placeholder, variable } from '../../src/graph/ops/state.js';

t.test('columns used apart are put together in one gradient', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 6 });
  const parts = [columns(x, 0, 2), columns(x, 2, 4), columns(x, 4, 6)] as const;
  const loss = reduceMean(addN([rowDot(parts[0], parts[1]), rowDot(parts[1], parts[2])]));
  const [grad] = gradients([loss], [x]);
  t.equal(grad?.op.def, AssembleColumns);
  t.same((grad!.op.attrs as { starts: number[] }).starts.toSorted(), [0, 2, 4]);
  t.notOk(
    grad!.op.inputs.some((input) => input.op.type === 'AssembleColumns'),
    'no wide matrix of zeros is added',
  );
  t.match(grad!.op.name, /^gradients\//);
});

t.test('an x that lies between y and another x does not hide it', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x' });
  const middle = scale(x, 3);
  // x is reached through the middle alone, or besides.
  for (const loss of [reduceMean(mul(middle, middle)), reduceMean(mul(middle, x))]) {
    const inputsOf = (tensor: Tensor | undefined) => tensor?.op.inputs.length;
    const types = (xs: Tensor[]) => gradients([loss], xs).map((grad) => [grad?.op.type, inputsOf(grad)]);
    t.same(types([middle, x]), [...types([middle]), ...types([x])]);
    t.same(types([x, middle]), [...types([x]), ...types([middle])]);
  }
});

t.test('a chain of ops may be longer than the stack', async (t) => {
  const x = placeholder(new Graph(), { name: 'x' });
  let end = x;
  for (let i = 0; i < 20_000; i++) end = scale(end, 1);
  const [grad] = gradients([reduceMean(end)], [x]);
  t.equal(grad?.op.type, 'Scale');
});

t.test('several consumers are added up once', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x' });
  const loss = reduceMean(addN([mul(x, x), scale(x, 3)]));
  const [a, b] = gradients([loss], [x, x]);
  t.equal(a, b);
  t.equal(a?.op.type, 'AddN');
  t.equal(a?.op.inputs.length, 3);
});

t.test('a tensor no y depends on has no gradient', async (t) => {
  const graph = new Graph();
  const [x, y] = [placeholder(graph, { name: 'x' }), placeholder(graph, { name: 'y' })];
  const [gradX, gradY] = gradients([reduceMean(x)], [x, y]);
  t.ok(gradX);
  t.equal(gradY, undefined);
  t.same(gradients([], [x]), [undefined]);
});

t.test('seeds must match the tensors they belong to', async (t) => {
  const graph = new Graph();
  const [x, y] = [placeholder(graph, { name: 'x' }), placeholder(graph, { name: 'y', width: 2 })];
  const twice = scale(x, 2);
  t.throws(() => gradients([twice], [x], { gradYs: [x, x] }), { code: 'ML_GRAPH', message: /2 seeds for 1 tensors/ });
  t.throws(() => gradients([twice], [x], { gradYs: [y] }), {
    code: 'ML_GRAPH',
    message: /seed gradient has another shape/,
  });
  t.throws(() => gradients([twice], [x]), { code: 'ML_GRAPH', message: /only scalars get ones/ });
  const [grad] = gradients([twice], [x], { gradYs: [x] });
  t.equal(grad?.op.inputs[0], x);
});

t.test('an op without a gradient is named, but only when it is in the way', async (t) => {
  const graph = new Graph();
  const Step: OpDef<null> = { type: 'Step', infer: ([x]) => [x!.spec] };
  const [x, y] = [placeholder(graph, { name: 'x' }), placeholder(graph, { name: 'y' })];
  const stepped = graph.add(Step, [x], null, 'my_step').output;
  const loss = reduceMean(mul(stepped, y));
  t.throws(() => gradients([loss], [x]), { code: 'ML_GRAPH', message: /my_step: no gradient is defined for Step/ });
  t.ok(gradients([loss], [y])[0]);
});

t.test('a gradient has the shape of its tensor, also for one column', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 3 });
  const w = variable(graph, { name: 'w', shape: [3, 1], initial: () => new Float32Array(3) });
  const one = matMul(x, w);
  const xs = [x, w, one];
  for (const loss of [concatColumns([one, x]), scaleRows(one, x), columns(one, 0, 1)]) {
    const shapes = gradients([reduceMean(loss)], xs).map((grad) => grad?.spec.shape);
    t.same(
      shapes,
      xs.map(({ spec }) => spec.shape),
    );
  }
});
