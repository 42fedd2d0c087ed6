import t from 'tap';
import { psDevice, roundRobinVariables } from '../../src/graph/device.js';
import { Graph } from '../../src/graph/graph.js';
import { addN } from '../../src/graph/ops/elementwise.js';
import { constant, variable } from '../../src/graph/ops/state.js';

const value = (graph: Graph) => constant(graph, [1], { shape: [] }).op.device;

t.test('the device of a parameter server is the string of the reference', async (t) => {
  t.equal(psDevice(3), '/job:ps/task:3/device:CPU:0');
});

t.test('inner scopes win and leave the rest to the outer ones', async (t) => {
  const graph = new Graph();
  t.equal(value(graph), '');
  graph.device('/job:worker/task:0/device:GPU:1', () => {
    t.equal(value(graph), '/job:worker/task:0/device:GPU:1');
    t.equal(
      graph.device('/task:2', () => value(graph)),
      '/job:worker/task:2/device:GPU:1',
    );
    t.equal(
      graph.device('/cpu:0', () => value(graph)),
      '/job:worker/task:0/device:CPU:0',
    );
    t.equal(
      graph.device(null, () => value(graph)),
      '',
    );
    t.equal(
      graph.device(null, () => graph.device('/job:ps', () => value(graph))),
      '/job:ps',
    );
    t.equal(
      graph.device('', () => value(graph)),
      '/job:worker/task:0/device:GPU:1',
    );
  });
  t.equal(value(graph), '', 'a scope ends');
  t.throws(() =>
    graph.device('/job:ps', () => {
      throw new Error('stop');
    }),
  );
  t.equal(value(graph), '', 'with an error too');
});

t.test('a function says the device per op', async (t) => {
  const graph = new Graph();
  const seen: string[] = [];
  const device = graph.device('/job:worker', () =>
    graph.device(
      ({ name, type }) => {
        seen.push(`${name} ${type}`);
        return '/task:7';
      },
      () => graph.nameScope('a', () => constant(graph, [1], { shape: [], name: 'c' }).op.device),
    ),
  );
  t.equal(device, '/job:worker/task:7');
  t.same(seen, ['a/c Const']);
});

t.test('variables go round the servers, the rest to the worker', async (t) => {
  const graph = new Graph();
  const make = (name: string) => variable(graph, { name, shape: [], initial: () => new Float32Array(1) });
  graph.device(roundRobinVariables(2), () => {
    const made = ['a', 'b', 'c'].map(make);
    t.same(
      made.map(({ op }) => op.device),
      ['/job:ps/task:0', '/job:ps/task:1', '/job:ps/task:0'],
    );
    t.equal(addN(made).op.device, '/job:worker');
  });
  t.equal(graph.device(roundRobinVariables(0), () => make('d')).op.device, '', 'without servers nothing is placed');
});

t.test('a device that is none is refused', async (t) => {
  const graph = new Graph();
  for (const device of ['ps', '/job:', '/task:one', '/device:CPU', '/place:1']) {
    t.throws(() => graph.device(device, () => value(graph)), { code: 'ML_DEVICE' }, device);
  }
});

t.test('a graph keeps what belongs to it under a key', async (t) => {
  const graph = new Graph();
  const made = graph.getMeta('key', () => ({ n: 1 }));
  t.equal(
    graph.getMeta('key', () => ({ n: 2 })),
    made,
  );
  t.not(
    new Graph().getMeta('key', () => ({ n: 1 })),
    made,
  );
});
