/** @file What the compiler accepts and refuses of programs that use sessions, hooks, tables and collections. */
import type { Snippets } from '../support/check-snippets.js';

const prelude = `import * as ml from 'monolith-ts';
const schema = ml.defineSchema({
  label: ml.dense.f32(),
  user: ml.ragged.i64({ valuesPerRow: 1 }),
  tags: ml.ragged.i64({ valuesPerRow: 3 }),
});
const graph = new ml.Graph();
const { label } = schema.inputs(graph);
const loss = ml.ops.reduceMean(label);
const trainOp = ml.ops.group(graph, []);
const session = await ml.Session.create(graph, { schema, batchSize: 2 });
const plain = await ml.Session.create(graph, { schema: schema.specs, batchSize: 2 });
const feeds = { label: [0, 1], user: [7n, 8n], tags: [[1n], []] };
const table = ml.defineTable('user', [{ dim: 8 }]);
`;

const programs = {
  'values have the structure of the fetches': `
    const [value, nothing] = await session.run([loss, trainOp], feeds);
    const seen: number | Float32Array | BigInt64Array = value;
    const none: undefined = nothing;
    const { all: [first], op } = await session.run({ all: [loss], op: trainOp }, feeds);
    const one: typeof seen = first;
    const alone: typeof seen = await session.run(loss, feeds);
    const list: readonly (ml.Tensor | ml.Op)[] = [loss];
    const values: ml.FetchValue[] = await session.run(list, feeds);
    const text: string = value; // error: not assignable to type 'string'
    const wrong: Float32Array = nothing; // error: 'undefined' is not assignable
    const { other } = await session.run({ loss }, feeds); // error: Property 'other' does not exist
    const tree: ml.FetchTree = loss;
    const something: unknown = await session.run(tree, feeds);
    await session.run(3, feeds); // error: '3' is not assignable`,
  'a session of a schema knows what is fed to it': `
    await session.run([loss], feeds);
    await session.run([loss], 4096);
    await session.run([loss], new Map([[graph.tensor('label'), new Float32Array(2)]]));
    await session.run([loss], { label: 1, user: 7n, tags: [[]] });
    await session.run([loss], { ...feeds, lable: 1 }); // error: 'lable' does not exist
    await session.run([loss], { user: 7n, tags: [[]] });
    await session.run([loss], { ...feeds, user: new Float32Array(2) }); // error: not assignable to type 'RaggedFeed
    await session.run([loss], { ...feeds, tags: 'a' }); // error: 'string' is not assignable to type 'RaggedFeed`,
  'one of specs takes any feeds, and every session goes where sessions go': `
    await plain.run([loss], { anything: new Float32Array(2) });
    const sessions: ml.Session[] = [plain, session];
    ml.data.loadBatches(session, [schema.batch(feeds)]);
    await plain.run([loss], { anything: 'a' }); // error: 'string' is not assignable`,
  'options of a session': `
    await ml.Session.create(graph, { schema, batchSize: 2, thread: 1 }); // error: 'threads'
    await ml.Session.create(graph, { schema }); // error: 'batchSize' is missing
    await ml.Session.create(graph, { schema: [{ name: 'x', kind: 'sparse' }], batchSize: 2 }); // error: '"sparse"'
    await ml.Session.create(graph, { schema, batchSize: 2, backend: 'gpu' }); // error: '"gpu"'`,
  'collections hold what is known of them': `
    const variables: readonly ml.Tensor[] = graph.getCollection('variables');
    const tables: readonly ml.TableConfig[] = graph.getCollection('tables');
    const updates: readonly ml.Op[] = graph.getCollection('update_ops');
    const mine: readonly number[] = graph.getCollection<number>('mine');
    const unknown: readonly unknown[] = graph.getCollection('mine');
    const wrong: readonly ml.Op[] = graph.getCollection('tables'); // error: TableConfig`,
  hooks: `
    const hook: ml.hooks.TrainHook = { afterRun({ globalStep }, values) { const step: number = globalStep; } };
    const fetching: ml.hooks.TrainHook = { beforeRun: () => [loss] };
    new ml.hooks.StopAtStepHook({ steps: 3 });
    new ml.hooks.StopAtStepHook({ step: 3 }); // error: 'steps'
    new ml.hooks.NanTensorHook(loss, { policy: 'warn' }); // error: '"warn"'
    const wrong: ml.hooks.TrainHook = { beforeRun: () => ['loss'] }; // error: 'string'`,
  tables: `
    const rows = ml.tables.HashTable.of(session, table);
    rows.assign([1n, 2], [[1, 2], new Float32Array(2)], { timeSec: 1 });
    const found: Float32Array = rows.lookup(new BigUint64Array(1));
    rows.lookup(['1']); // error: 'string' is not assignable
    rows.lookup(new Float64Array(1)); // error: Float64Array
    rows.assign(1n, 'a'); // error: string
    rows.optimize(1n, [1], { dedup: true }); // error: 'dedup' does not exist
    ml.defineTable('t', [{ dimension: 3 }]); // error: 'dimension' does not exist
    ml.defineTable('t', [{ dim: 3, optimiser: table }]); // error: 'optimizer'`,
};

export const SESSION_SNIPPETS: Snippets = { prelude, programs };
