import t from 'tap';
import { Graph, type Op } from '../../src/graph/graph.js';
import { addN, mul, scale } from '../../src/graph/ops/elementwise.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { globalStep, group, increment, placeholder } from '../../src/graph/ops/state.js';
import { executionOrder } from '../../src/runtime/compile/execution-order.js';
import '../../src/runtime/compile/lower/all.js';
import { KERNEL_OF_OPCODE, KERNELS } from '../../src/runtime/kernels/kernels.js';
import { openSession, withSession } from './with-session.js';

const names = (ops: readonly Op[]) => ops.map((op) => op.name);

t.test('only what the fetches need runs, in the order it was made', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x' });
  const unused = scale(x, 2, { name: 'unused' });
  const square = mul(x, x, { name: 'square' });
  const sum = addN([square, x], { name: 'sum' });
  t.same(names(executionOrder([sum])), ['x', 'square', 'sum']);
  t.same(names(executionOrder([sum, square, x])), ['x', 'square', 'sum']);
  t.same(names(executionOrder([unused, sum])), ['x', 'unused', 'square', 'sum']);
  t.same(executionOrder([]), []);
});

t.test('control inputs run before the op that names them', async (t) => {
  const graph = new Graph();
  const step = increment(globalStep(graph), { by: 1, name: 'count' });
  const x = placeholder(graph, { name: 'x' });
  const after = graph.controlDependencies([step], () => reduceMean(x, { name: 'after' }));
  const all = group(graph, [after], { name: 'all' });
  t.same(names(executionOrder([all as Op])), ['global_step', 'count', 'x', 'after', 'all']);
});

t.test('a graph ten thousand ops deep is put in order', async (t) => {
  const graph = new Graph();
  let x = placeholder(graph, { name: 'x' });
  for (let depth = 0; depth < 10_000; depth++) x = scale(x, 1, { name: `s${depth}` });
  t.equal(executionOrder([x]).length, 10_001);
});

t.test('an op the runtime does not know is named', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x' });
  const odd = graph.add({ type: 'Odd', infer: () => [x.spec] }, [x], null, 'my_odd').output;
  await withSession(graph, {}, async (session) => {
    const error = { code: 'ML_GRAPH', message: /my_odd: the runtime cannot run ops of type Odd/ };
    await t.rejects(session.run([odd], { x: new Float32Array(1) }), error);
    t.same(await session.run([x], { x: Float32Array.of(5) }), [Float32Array.of(5)], 'the session goes on');
  });
});

t.test('feeds of the program must be feeds of the input', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 2 });
  const cases = [
    [{ name: 'y', kind: 'dense', width: 2 }, /no feed of this name/],
    [{ name: 'x', kind: 'dense', width: 3 }, /2 floats per example/],
    [{ name: 'x', kind: 'ragged' }, /2 floats per example/],
  ] as const;
  for (const [spec, message] of cases) {
    const session = await openSession(graph, { schema: [spec], threads: 1 });
    await t.rejects(session.prepare([x]), { code: 'ML_FEED', message });
    await session.close();
  }
});

t.test('kernels have opcodes of their own that fit the instruction', async (t) => {
  t.equal(KERNEL_OF_OPCODE.size, KERNELS.size);
  for (const { name, opcode, words } of KERNELS.values()) {
    t.ok(opcode > 0 && opcode < 1 << 12 && words.length < 1 << 8, name);
  }
});
