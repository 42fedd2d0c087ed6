import t from 'tap';
import type { MonolithError } from '../../src/base/errors.js';
import { checkOpsDependence } from '../../src/graph/check-ops-dependence.js';
import { addToCollections, getCollection } from '../../src/graph/collections.js';
import { Graph } from '../../src/graph/graph.js';
import { addN, scale } from '../../src/graph/ops/elementwise.js';
import { assignAdd, constant, placeholder, raggedPlaceholder, variable } from '../../src/graph/ops/state.js';
import { propagateBackDictGradients, propagateBackGradients } from '../../src/graph/propagate-back.js';
import { getNdim, intShape } from '../../src/graph/shapes.js';
import { RaggedTensor } from '../../src/tensor/ragged-tensor.js';
import { Tensor as DenseTensor } from '../../src/tensor/tensor.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';

// The cases of upstream's native_training/utils_test, by their names.

t.test('test_propagate_back_dict_gradients', async (t) => {
  const graph = new Graph();
  const x = variable(graph, { name: 'x', shape: [], initial: () => Float32Array.of(8) });
  const y = scale(x, 2);
  const gradY = scale(y, 3);
  const grouped = propagateBackDictGradients([[gradY, y]], new Map([[x, 'group1']]), new Set([y]));
  const group = grouped.get('group1')!;
  t.equal(group.length, 1);
  const [dx, same] = group[0]!;
  for (const backend of BACKENDS) {
    await withSession(graph, { backend }, async (session) => {
      t.same(await session.run([dx!, same]), [96, 8], backend);
    });
  }
});

t.test('test_check_ops_dependence', async (t) => {
  const graph = new Graph();
  const v = variable(graph, { name: 'v', shape: [], initial: () => Float32Array.of(1) });
  const add = assignAdd(v, constant(graph, [1], { shape: [] }));
  const [t1, t2] = graph.controlDependencies(
    [add],
    () => [constant(graph, [1], { shape: [] }), constant(graph, [2], { shape: [] })] as const,
  );
  t.throws(() => checkOpsDependence(graph, t1.op.name, add.name), {
    code: 'ML_OPS_DEPENDENCE',
    message:
      'Checking ops dependence, the ops [Const_1] depend on ops [AssignAdd], ' +
      'which may cause ops [AssignAdd] to be run twice.',
  });
  checkOpsDependence(graph, t1.op.name, t2.op.name);
});

t.test('ops depend on others by data and by control edges, at any distance, and on themselves', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 2 });
  const far = scale(scale(x, 2, { name: 'twice' }), 2, { name: 'far' });
  const after = graph.controlDependencies([far], () => constant(graph, [1], { shape: [] }));
  const last = graph.controlDependencies([after], () => constant(graph, [1], { shape: [], name: 'last' }));
  const other = placeholder(graph, { name: 'other' });
  const depends = (first: string | string[], second: string | string[]) => {
    try {
      checkOpsDependence(graph, first, second);
      return null;
    } catch (error) {
      return (error as MonolithError).fields;
    }
  };
  t.same(depends('last', ['x', 'other', 'twice']), { ops: 'last', needed: 'x, twice' });
  t.same(depends(['other', 'far'], 'x'), { ops: 'other, far', needed: 'x' });
  t.same(depends('far', 'far'), { ops: 'far', needed: 'far' });
  t.equal(depends(['x', other.op.name], ['far', last.op.name]), null);
  t.equal(depends('far', []), null);
  t.throws(() => checkOpsDependence(graph, 'fra', 'x'), { code: 'ML_GRAPH', hint: 'did you mean far?' });
});

t.test('test_collections', async (t) => {
  const graph = new Graph();
  for (const value of [1, 2]) addToCollections(graph, 'int', value);
  addToCollections(graph, 'str', 'str');
  for (const value of [false, true]) addToCollections(graph, 'bool', value);
  for (const value of [[1, 2, 3], [4, 5, 6], []]) addToCollections(graph, 'int_list', value);
  for (const value of [['hello', 'world'], null]) addToCollections(graph, 'str_list', value);
  for (const value of [[true], [false], [], undefined]) addToCollections(graph, 'bool_list', value);
  const last = (name: string) => getCollection(graph, name)?.at(-1);
  t.same([last('int'), last('str'), last('bool')], [2, 'str', true]);
  t.same([last('int_list'), last('str_list'), last('bool_list')], [[4, 5, 6], ['hello', 'world'], [false]]);
});

t.test('collections keep falsy scalars and leave out what is empty', async (t) => {
  const graph = new Graph();
  for (const value of [0, '', false]) t.ok(addToCollections(graph, ['a', 'b', 'a'], value));
  for (const value of [null, undefined, [], {}, new Map(), new Set()]) t.notOk(addToCollections(graph, 'a', value));
  t.same(getCollection(graph, 'a'), [0, '', false]);
  t.same(getCollection(graph, 'b'), [0, '', false]);
  t.equal(getCollection(graph, 'c'), null);
});

t.test('gradients of several tensors are propagated together and grouped in order', async (t) => {
  const graph = new Graph();
  const [a, b, c] = ['a', 'b', 'c'].map((name) =>
    variable(graph, { name, shape: [2], initial: () => Float32Array.of(1, 2) }),
  );
  const sum = addN([scale(a!, 2), b!]);
  const double = scale(b!, 5);
  const seed = constant(graph, [1, 10], { shape: [2] });
  const keys = new Map([
    [a!, 'left'],
    [b!, 'right'],
    [c!, 'left'],
  ]);
  const pairs = [
    [seed, sum],
    [seed, double],
  ] as const;
  const grouped = propagateBackDictGradients(pairs, keys);
  t.same([...grouped.keys()], ['left', 'right']);
  t.same(
    grouped.get('left')!.map(([, x]) => x.name),
    ['a:0', 'c:0'],
  );
  t.equal(grouped.get('left')![1]![0], undefined, 'nothing depends on c');
  await withSession(graph, {}, async (session) => {
    const fetches = [grouped.get('left')![0]![0]!, grouped.get('right')![0]![0]!];
    const [da, db] = await session.run(fetches);
    t.same(
      [[...(da as Float32Array)], [...(db as Float32Array)]],
      [
        [2, 20],
        [6, 60],
      ],
    );
  });
});

t.test('a tensor that is not among the valid ones is refused', async (t) => {
  const graph = new Graph();
  const x = variable(graph, { name: 'x', shape: [], initial: () => Float32Array.of(8) });
  const [y, z] = [scale(x, 2, { name: 'y' }), scale(x, 2, { name: 'z' })];
  t.throws(() => propagateBackGradients([[y, y]], [x], new Set([z])), {
    code: 'ML_GRADIENT_VARS',
    message: 'Invalid variables in the input: y:0 is none of z:0',
  });
  t.equal(propagateBackGradients([[y, y]], [x], new Set()).length, 1, 'an empty set allows all');
});

t.test('ranks and sizes of tensors, with -1 for what is not known', async (t) => {
  const graph = new Graph();
  const tensors = [
    placeholder(graph, { name: 'x', width: 4 }),
    placeholder(graph, { name: 'y' }),
    raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 2 }),
    variable(graph, { name: 'w', shape: [3, 5], initial: () => new Float32Array(15) }),
    variable(graph, { name: 's', shape: [], initial: () => new Float32Array(1) }),
    DenseTensor.of('int32', [[1], [2]]),
    RaggedTensor.fromRows('int32', [[1], [], [2]]),
    RaggedTensor.fromRows('int32', [[[1], [2]]]),
  ];
  t.same(tensors.map(intShape), [[-1, 4], [-1], [-1, -1], [3, 5], [], [2, 1], [3, -1], [1, -1, -1]]);
  t.same(tensors.map(getNdim), [2, 1, 2, 2, 0, 2, 2, 3]);
});
