import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type OpDef } from '../../src/graph/graph.js';
import { binary, scale } from '../../src/graph/ops/elementwise.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { placeholder, variable } from '../../src/graph/ops/state.js';
import { DenseLayer } from '../../src/layers/dense-layer.js';
import { withSession } from '../runtime/with-session.js';

/** Line of the caller in this file, as places write it. */
function here(offset = 0): RegExp {
  const line =
    Number(/author-errors\.test\.[jt]s:(\d+):\d+/.exec(new Error('here').stack!.split('\n')[2]!)![1]) + offset;
  return new RegExp(`author-errors\\.test\\.[jt]s:${line}:\\d+$`);
}

function caught(body: () => unknown): MonolithError {
  try {
    body();
  } catch (error) {
    if (error instanceof MonolithError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

async function rejected(promise: Promise<unknown>): Promise<MonolithError> {
  return promise.then(
    () => Promise.reject(new Error('nothing was thrown')),
    (error) => error as MonolithError,
  );
}

t.test('what does not fit names the op and the line that made it', async (t) => {
  const graph = new Graph();
  const [x, y] = [placeholder(graph, { name: 'x', width: 3 }), placeholder(graph, { name: 'y', width: 2 })];
  let place = here(1);
  const error = caught(() => graph.nameScope('tower', () => binary('mul', x, y, 'scores')));
  t.match(error, { code: 'ML_GRAPH', fields: { op: 'mul', node: 'tower/scores', place } });
  t.match(error.message, /^graph is invalid at mul: shapes .* do not fit together, in tower\/scores at \S+$/);
  t.match(error.message, place);
  place = here(1);
  t.match(caught(() => matMul(x, y)).fields, { place });
  const v = variable(graph, { name: 'v', shape: [], initial: () => new Float32Array(1) });
  place = here(1);
  const inLayer = caught(() => new DenseLayer(3, { name: 'top' }).call(v));
  t.match(inLayer, { code: 'ML_GRAPH', fields: { op: /^top/, place } });
});

t.test('ops remember the line that made them, those of gradients too', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 3 });
  t.match(x.op.place, here(-1));
  const [grad] = gradients([reduceMean(scale(x, 2))], [x]);
  t.match(grad!.op.place, here(-1));
});

const Floor: OpDef<null> = { type: 'Floor', infer: ([x]) => [x!.spec] };
const Fussy: OpDef<null> = {
  type: 'Fussy',
  infer: ([x]) => [x!.spec],
  gradient: (_, [grad]) => [matMul(grad!, grad!)],
};

t.test('a gradient that cannot be made names the op of the model, not the call of gradients', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 3 });
  const place = here(1);
  const [floor, fussy] = [Floor, Fussy].map((def) => graph.add(def, [x], null, `my_${def.type}`).output);
  const none = caught(() => gradients([reduceMean(floor!)], [x]));
  t.match(none, { code: 'ML_GRAPH', fields: { op: 'my_Floor', reason: 'no gradient is defined for Floor', place } });
  const broken = caught(() => gradients([reduceMean(fussy!)], [x]));
  t.match(broken, { fields: { op: 'my_Fussy', reason: /^its gradient cannot be made: /, place } });
});

t.test('what the compiler refuses names the line of the op', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 3 });
  const typo = placeholder(graph, { name: 'lable' });
  const feedPlace = here(-1);
  const odd = graph.add(Floor, [x], null, 'odd').output;
  const place = here(-1);
  const schema = [
    { name: 'x', kind: 'dense', width: 3 },
    { name: 'label', kind: 'dense', width: 1 },
  ] as const;
  await withSession(graph, { schema }, async (session) => {
    const feeds = { x: new Float32Array(3), label: new Float32Array(1) };
    const refused = await rejected(session.run([odd], feeds));
    t.match(refused, { code: 'ML_GRAPH', fields: { op: 'odd', place } });
    const unknown = await rejected(session.run([typo], feeds));
    t.match(unknown, { code: 'ML_FEED', hint: 'did you mean label?', fields: { name: 'lable', place: feedPlace } });
    t.match(unknown.message, feedPlace);
  });
});

t.test('a name that is nearly right is answered with the right one', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'features', width: 3 });
  const loss = reduceMean(x, { name: 'loss' });
  variable(graph, { name: 'weights', shape: [1], initial: () => new Float32Array(1) });
  t.match(
    caught(() => graph.op('los')),
    { code: 'ML_GRAPH', hint: 'did you mean loss?' },
  );
  t.match(
    caught(() => graph.tensor('featuers:0')),
    { code: 'ML_GRAPH', hint: 'did you mean features?' },
  );
  t.equal(caught(() => graph.op('something else')).hint, undefined);
  await withSession(graph, {}, async (session) => {
    const values = new Float32Array(3);
    t.match(await rejected(session.run([loss], { feature: values })), {
      code: 'ML_FEED',
      hint: 'did you mean features?',
      fields: { name: 'feature' },
    });
    t.match(await rejected(session.run([loss], { features: values, zzz: values })), { hint: 'it has features' });
    const byName = (fetch: unknown) => rejected(session.run(fetch as never, { features: values }));
    t.match(await byName(['lsos']), { code: 'ML_GRAPH', hint: 'did you mean loss?' });
    t.match(await byName({ a: ['los:0'] }), { code: 'ML_GRAPH', hint: 'did you mean loss:0?' });
    t.match(
      caught(() => session.readVariable('wieghts')),
      { code: 'ML_GRAPH', hint: 'did you mean weights?' },
    );
  });
});
