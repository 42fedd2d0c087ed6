/** @file What the compiler accepts and refuses of programs that use a schema, by running it over snippets. */
import t from 'tap';
import { checkSnippets } from '../support/check-snippets.js';

const PRELUDE = `import * as ml from '../src/index.js';
const schema = ml.defineSchema({
  label: ml.dense.f32(),
  price: ml.dense.f32({ width: 3 }),
  user: ml.ragged.i64({ valuesPerRow: 1 }),
});
const graph = new ml.Graph();
const inputs = schema.inputs(graph);
const table = ml.defineTable('user', [{ dim: 8 }]);
const splits = new Int32Array(2);
`;

const SNIPPETS: Record<string, string> = {
  'a program that is right': `
    const weights = ml.ops.variable(graph, { name: 'w', shape: [3, 8], initial: () => new Float32Array(24) });
    const user = ml.ops.embeddingLookup(inputs.user, table);
    const logit = ml.ops.rowDot(user, ml.ops.matMul(inputs.price, weights));
    const loss = ml.ops.reduceMean(ml.losses.sigmoidCrossEntropyWithLogits(logit, inputs.label));
    const session = await ml.Session.create(graph, { schema: schema.specs, batchSize: 1 });
    const values = { splits, values: new BigInt64Array(1) };
    const feeds = schema.feeds({ label: new Float32Array(1), price: new Float32Array(3), user: values });
    await session.run([loss], feeds);
    ml.data.loadBatches(session, [schema.batch(feeds)]);
    new ml.FeatureFactory().createFeatureColumn({} as ml.FeatureSlot, inputs.user);`,
  'tensors that no schema made go everywhere': `
    const ids = ml.ops.raggedPlaceholder(graph, { name: 'other', valuesPerRow: 1 });
    ml.ops.embeddingLookup(ids, table);
    ml.ops.relu(ml.ops.placeholder(graph, { name: 'more', width: 2 }));`,
  'a model that is right': `
    ml.defineModel(schema, { name: 'm', label: 'label' }, ({ label, price, user }, graph) => {
      const pred = ml.ops.sigmoid(ml.ops.columns(price, 0, 1));
      const loss = ml.ops.reduceMean(ml.losses.sigmoidCrossEntropyWithLogits(ml.ops.columns(price, 0, 1), label));
      ml.ops.embeddingLookup(user, table);
      return { loss, pred, trainOp: ml.ops.group(graph, []) };
    });`,
  'a misspelt feature': `
    ml.ops.relu(inputs.prize); // TS2551 Did you mean 'price'?`,
  'a feature that is not there': `
    const { clicks } = schema.inputs(graph); // TS2339 Property 'clicks' does not exist`,
  'ids where floats belong': `
    ml.ops.relu(inputs.user); // TS2345 RaggedInput
    ml.ops.concatColumns([inputs.price, inputs.user]); // TS2739 RaggedInput
    ml.losses.sigmoidCrossEntropyWithLogits(inputs.price, inputs.user); // TS2345 RaggedInput`,
  'floats where ids belong': `
    ml.ops.embeddingLookup(inputs.price, table); // TS2345 DenseInput<3>
    new ml.FeatureFactory().createFeatureColumn({} as ml.FeatureSlot, inputs.label); // TS2345 DenseInput<1>
    ml.ops.sequenceMask(inputs.label, 3); // TS2345 DenseInput<1>`,
  'a feed with a misspelt name': `
    const user = { splits, values: new BigInt64Array(1) };
    schema.feeds({ label: new Float32Array(1), price: new Float32Array(3), usr: user }); // TS2561 Did you mean to write 'user'?`,
  'a feed that was left out': `
    schema.feeds({ label: new Float32Array(1), price: new Float32Array(3) }); // TS2345 Property 'user' is missing`,
  'feeds of another type': `
    const price = new Float32Array(3);
    const user = { splits, values: new BigInt64Array(1) };
    schema.feeds({ label: new BigInt64Array(1), price, user }); // TS2322 BigInt64Array
    schema.feeds({ label: ['1'], price, user }); // TS2322 string
    schema.feeds({ label: 1, price, user: new Float32Array(1) }); // TS2322 Float32Array
    schema.batch({ label: price, price, user: { splits, values: new Float64Array(1) } }); // TS2322 Float64Array`,
  'feeds in other forms': `
    schema.feeds({ label: 1, price: [1, 2, 3], user: 7n });
    schema.feeds({ label: [1, 0], price: [[1, 2, 3], new Float32Array(3)], user: [7n, 8] });
    schema.batch({ label: new Float64Array(2), price: new Uint8Array(6), user: [[7n], []] });
    const tags = ml.defineSchema({ tags: ml.ragged.i64({ valuesPerRow: 3 }) });
    tags.feeds({ tags: [[1n, 2n], [], new BigUint64Array(2)] });
    tags.feeds({ tags: [1n] }); // TS2322 bigint
    tags.feeds({ tags: new BigInt64Array(2) }); // TS2322 BigInt64Array`,
  'ids of another width': `
    ml.defineSchema({ label: ml.dense.f32(), user: ml.ragged.i32({ valuesPerRow: 1 }) }); // TS2339 Property 'i32' does not exist
    ml.defineSchema({ user: ml.ragged.i64({}) }); // TS2345 'valuesPerRow' is missing`,
  'a label that the schema does not have': `
    const build = () => ({}) as ml.ModelOutputs;
    ml.defineModel(schema, { name: 'm', label: 'lable' }, build); // TS2322 '"lable"' is not assignable to type '"label"'
    ml.defineModel(schema, { name: 'm', label: 'user' }, build); // TS2322 '"user"' is not assignable to type '"label"'
    ml.defineModel(schema, { name: 'm', label: 'price' }, build); // TS2322 '"price"' is not assignable to type '"label"'
    ml.defineModel(schema, { name: 'm' }, build); // TS2345 'label' is missing`,
  'a model that gives no loss': `
    ml.defineModel(schema, { name: 'm', label: 'label' }, ({ price }, graph) => ({ pred: price, trainOp: ml.ops.group(graph, []) })); // TS2741 Property 'loss' is missing`,
  'a model that gives ids for its prediction': `
    ml.defineModel(schema, { name: 'm', label: 'label' }, ({ label, user }, graph) => { // TS2345 Type 'RaggedInput' is missing
      return { loss: ml.ops.reduceMean(label), pred: user, trainOp: ml.ops.group(graph, []) };
    });`,
};

checkSnippets(t, PRELUDE, SNIPPETS);
