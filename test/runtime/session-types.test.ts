/** @file What the compiler accepts and refuses of programs that use sessions, hooks, tables and collections. */
import t from 'tap';
import { checkSnippets } from '../support/check-snippets.js';

const PRELUDE = `import * as ml from '../src/index.js';
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

checkSnippets(t, PRELUDE, {
  'values have the structure of the fetches': `
    const [value, nothing] = await session.run([loss, trainOp], feeds);
    const seen: number | Float32Array | BigInt64Array = value;
    const none: undefined = nothing;
    const { all: [first], op } = await session.run({ all: [loss], op: trainOp }, feeds);
    const one: typeof seen = first;
    const alone: typeof seen = await session.run(loss, feeds);
    const list: readonly (ml.Tensor | ml.Op)[] = [loss];
    const values: ml.FetchValue[] = await session.run(list, feeds);
    const text: string = value; // TS2322 not assignable to type 'string'
    const wrong: Float32Array = nothing; // TS2322 'undefined' is not assignable
    const { other } = await session.run({ loss }, feeds); // TS2339 Property 'other' does not exist
    const tree: ml.FetchTree = loss;
    const something: unknown = await session.run(tree, feeds);
    await session.run(3, feeds); // TS2345 '3' is not assignable`,
  'a session of a schema knows what is fed to it': `
    await session.run([loss], feeds);
    await session.run([loss], 4096);
    await session.run([loss], new Map([[graph.tensor('label'), new Float32Array(2)]]));
    await session.run([loss], { label: 1, user: 7n, tags: [[]] });
    await session.run([loss], { ...feeds, lable: 1 }); // TS2353 'lable' does not exist
    await session.run([loss], { user: 7n, tags: [[]] });
    await session.run([loss], { ...feeds, user: new Float32Array(2) }); // TS2322 not assignable to type 'RaggedFeed
    await session.run([loss], { ...feeds, tags: 'a' }); // TS2322 'string' is not assignable to type 'RaggedFeed | undefined'`,
  'one of specs takes any feeds, and every session goes where sessions go': `
    await plain.run([loss], { anything: new Float32Array(2) });
    const sessions: ml.Session[] = [plain, session];
    ml.data.loadBatches(session, [schema.batch(feeds)]);
    await plain.run([loss], { anything: 'a' }); // TS2322 'string' is not assignable`,
  'options of a session': `
    await ml.Session.create(graph, { schema, batchSize: 2, thread: 1 }); // TS2561 'threads'
    await ml.Session.create(graph, { schema }); // TS2345 'batchSize' is missing
    await ml.Session.create(graph, { schema: [{ name: 'x', kind: 'sparse' }], batchSize: 2 }); // TS2322 '"sparse"'
    await ml.Session.create(graph, { schema, batchSize: 2, backend: 'gpu' }); // TS2322 '"gpu"'`,
  'collections hold what is known of them': `
    const variables: readonly ml.Tensor[] = graph.getCollection('variables');
    const tables: readonly ml.TableConfig[] = graph.getCollection('tables');
    const updates: readonly ml.Op[] = graph.getCollection('update_ops');
    const mine: readonly number[] = graph.getCollection<number>('mine');
    const unknown: readonly unknown[] = graph.getCollection('mine');
    const wrong: readonly ml.Op[] = graph.getCollection('tables'); // TS2322 TableConfig`,
  hooks: `
    const hook: ml.hooks.TrainHook = { afterRun({ globalStep }, values) { const step: number = globalStep; } };
    const fetching: ml.hooks.TrainHook = { beforeRun: () => [loss] };
    new ml.hooks.StopAtStepHook({ steps: 3 });
    new ml.hooks.StopAtStepHook({ step: 3 }); // TS2561 'steps'
    new ml.hooks.NanTensorHook(loss, { policy: 'warn' }); // TS2322 '"warn"'
    const wrong: ml.hooks.TrainHook = { beforeRun: () => ['loss'] }; // TS2322 'string'`,
  tables: `
    const rows = ml.tables.HashTable.of(session, table);
    rows.assign([1n, 2], [[1, 2], new Float32Array(2)], { timeSec: 1 });
    const found: Float32Array = rows.lookup(new BigUint64Array(1));
    rows.lookup(['1']); // TS2322 'string' is not assignable
    rows.lookup(new Float64Array(1)); // TS2345 Float64Array
    rows.assign(1n, 'a'); // TS2345 string
    rows.optimize(1n, [1], { dedup: true }); // TS2353 'dedup' does not exist
    ml.defineTable('t', [{ dimension: 3 }]); // TS2353 'dimension' does not exist
    ml.defineTable('t', [{ dim: 3, optimiser: table }]); // TS2561 'optimizer'`,
});
