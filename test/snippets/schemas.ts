/** @file What the compiler accepts and refuses of programs that use a schema. */
import type { Snippets } from '../support/check-snippets.js';

const prelude = `import * as ml from 'monolith-ts';
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

const programs = {
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
    ml.defineModel(schema, { name: 'm', label: 'label' }, ({ label, price, user }, { graph }) => {
      const pred = ml.ops.sigmoid(ml.ops.columns(price, 0, 1));
      const loss = ml.ops.reduceMean(ml.losses.sigmoidCrossEntropyWithLogits(ml.ops.columns(price, 0, 1), label));
      ml.ops.embeddingLookup(user, table);
      return { loss, pred, trainOp: ml.ops.group(graph, []) };
    });`,
  'a misspelt feature': `
    ml.ops.relu(inputs.prize); // error: Did you mean 'price'?`,
  'a feature that is not there': `
    const { clicks } = schema.inputs(graph); // error: Property 'clicks' does not exist`,
  'ids where floats belong': `
    ml.ops.relu(inputs.user); // error: RaggedInput
    ml.ops.concatColumns([inputs.price, inputs.user]); // error: RaggedInput
    ml.losses.sigmoidCrossEntropyWithLogits(inputs.price, inputs.user); // error: RaggedInput`,
  'floats where ids belong': `
    ml.ops.embeddingLookup(inputs.price, table); // error: DenseInput<3>
    new ml.FeatureFactory().createFeatureColumn({} as ml.FeatureSlot, inputs.label); // error: DenseInput<1>
    ml.ops.sequenceMask(inputs.label, 3); // error: DenseInput<1>`,
  'a feed with a misspelt name': `
    const user = { splits, values: new BigInt64Array(1) };
    schema.feeds({ label: 1, price: new Float32Array(3), usr: user }); // error: Did you mean to write 'user'?`,
  'a feed that was left out': `
    schema.feeds({ label: new Float32Array(1), price: new Float32Array(3) }); // error: Property 'user' is missing`,
  'feeds of another type': `
    const price = new Float32Array(3);
    const user = { splits, values: new BigInt64Array(1) };
    schema.feeds({ label: new BigInt64Array(1), price, user }); // error: BigInt64Array
    schema.feeds({ label: ['1'], price, user }); // error: string
    schema.feeds({ label: 1, price, user: new Float32Array(1) }); // error: Float32Array
    schema.batch({ label: price, price, user: { splits, values: new Float64Array(1) } }); // error: Float64Array`,
  'feeds in other forms': `
    schema.feeds({ label: 1, price: [1, 2, 3], user: 7n });
    schema.feeds({ label: [1, 0], price: [[1, 2, 3], new Float32Array(3)], user: [7n, 8] });
    schema.batch({ label: new Float64Array(2), price: new Uint8Array(6), user: [[7n], []] });
    const tags = ml.defineSchema({ tags: ml.ragged.i64({ valuesPerRow: 3 }) });
    tags.feeds({ tags: [[1n, 2n], [], new BigUint64Array(2)] });
    tags.feeds({ tags: [1n] }); // error: bigint
    tags.feeds({ tags: new BigInt64Array(2) }); // error: BigInt64Array`,
  'ids of another width': `
    ml.defineSchema({ user: ml.ragged.i32({ valuesPerRow: 1 }) }); // error: Property 'i32' does not exist
    ml.defineSchema({ user: ml.ragged.i64({}) }); // error: 'valuesPerRow' is missing`,
  'a label that the schema does not have': `
    const build = () => ({}) as ml.ModelOutputs;
    ml.defineModel(schema, { name: 'm', label: 'lable' }, build); // error: '"lable"' is not assignable
    ml.defineModel(schema, { name: 'm', label: 'user' }, build); // error: '"user"' is not assignable to type '"label"'
    ml.defineModel(schema, { name: 'm', label: 'price' }, build); // error: '"price"' is not assignable
    ml.defineModel(schema, { name: 'm' }, build); // error: 'label' is missing`,
  'a model that gives no loss': `
    const trainOp = ml.ops.group(graph, []);
    const build = (pred: ml.Tensor) => ({ pred, trainOp });
    ml.defineModel(schema, { name: 'm', label: 'label' }, ({ price }) => build(price)); // error: 'loss' is missing`,
  'a model that gives ids for its prediction': `
    const build = (label: ml.Tensor, pred: ml.RaggedInput) => ({ loss: ml.ops.reduceMean(label), pred });
    const options = { name: 'm', label: 'label' } as const;
    ml.defineModel(schema, options, ({ label, user }) => build(label, user)); // error: Type 'RaggedInput' is missing`,
  'fields in the words of a table': `
    const movies = ml.defineSchema({
      userId: ml.f.id(),
      movieId: ml.f.id({ minCount: 2, expireDays: 90 }),
      genres: ml.f.ids({ split: '|', max: 10 }),
      hour: ml.f.number({ from: 'timestamp', map: (s) => (s / 3600) % 24 }),
      when: ml.f.time({ from: 'timestamp' }),
      rating: ml.f.label({ rule: '>=3.5' }),
    });
    const model = ml.defineModel(movies, { name: 'taste' }, ({ userId, movieId, genres, hour }, m) => {
      const [u, i, g] = m.embed([userId, movieId, genres], { dim: 16, bias: true });
      const deep = ml.nn.mlp(ml.ops.concatColumns([u, i, g, hour]), [8, 1]);
      return m.binary([deep, ml.nn.fm([u, i, g]), m.biases()]);
    });
    const train: ml.ModelSpec = model.build('train');
    model.build('predict').loss.name; // error: possibly 'undefined'
    const rows = [{ userId: 'u42', movieId: 318n, genres: ['Crime', 7], timestamp: 3600, rating: 4, more: 1 }];
    const { feeds } = ml.data.encodeRows(movies, rows);
    const session = await ml.Session.create(train.graph, { schema: movies, batchSize: 1 });
    await session.run([train.loss], feeds);
    ml.data.encodeRows(movies, [{ userID: 3 }]); // error: Did you mean to write 'userId'?
    ml.data.encodeRows(movies, [{ timestamp: ['x'] }]); // error: [string]
    ml.data.encodeRows(movies, [{ rating: [1] }]); // error: [number]
    const { rating } = ml.data.encodeRows(movies, [{ userId: 3 }], { labels: false }).feeds;
    ml.ops.sigmoid(rating); // error: undefined
    ml.f.number({ map: (s: string) => s.length }); // error: 'string'
    ml.f.label({ rule: 3 }); // error: number
    ml.defineModel(movies, { name: 'm' }, ({ hour, movieID }, m) => m.binary(hour)); // error: 'movieID' does not exist
    const one = { dim: 1 };
    ml.defineModel(movies, { name: 'm' }, ({ hour }, m) => m.binary(m.embed(hour, one))); // error: No overload matches
    ml.defineModel(movies, { name: 'm' }, ({ userId }, m) => m.binary(userId)); // error: Int64Input<1>
    ml.defineModel(movies, { name: 'm' }, ({ hour }, m) => m.binary(hour, { label: 'hour' })); // error: '"hour"'
    ml.defineModel(movies, { name: 'm' }, ({ hour }, m) => m.heads({ ratng: hour })); // error: 'ratng'
    ml.defineModel(movies, { name: 'm', label: 'hour' }, ({ hour }, m) => m.binary(hour)); // error: '"hour"'`,
  'weights of ids are a feed of their own': `
    const liked = ml.defineSchema({ tags: ml.f.ids({ weights: ':', max: 3 }), other: ml.f.ids(), y: ml.f.label() });
    liked.feeds({ tags: [[1n]], 'tags/weights': [1, 0, 0], other: [[]], y: 1 });
    ml.ops.relu(liked.inputs(graph)['tags/weights']);
    liked.feeds({ tags: [[1n]], other: [[]], y: 1 }); // error: tags/weights
    liked.inputs(graph)['other/weights']; // error: 'other/weights'`,
  'a model without a label': `
    const bare = ml.defineSchema({ user: ml.f.id(), x: ml.f.number() });
    ml.defineModel(bare, { name: 'm' }, ({ x }, m) => m.binary(x)); // error: 'label' is missing
    ml.defineModel(bare, { name: 'm', label: null }, ({ x }, m) => ({ loss: ml.ops.reduceMean(x), pred: x }));
    ml.zoo.twoTowers(bare, { item: ['itm'] }); // error: '"itm"'
    const two = ml.defineSchema({ x: ml.f.number(), click: ml.f.label(), like: ml.f.label() });
    ml.defineModel(two, { name: 'm' }, ({ x }, m) => m.heads({ click: x, like: [x, x] }));`,
  'an estimator is typed by its schema': `
    const { id, ids, number, label } = ml.f;
    const marked = ml.defineSchema({ user: id(), tags: ids({ max: 4 }), hour: number(), click: label() });
    const model = ml.defineModel(marked, { name: 'm', label: 'click' }, ({ hour }, m) => m.binary(hour));
    const estimator = new ml.Estimator(model);
    const row = { user: 'anna', tags: ['a', 'b'], hour: 3, note: 'mine' };
    await estimator.train([{ ...row, click: 1 }], { epochs: 1 });
    await estimator.evaluate(() => [{ ...row, click: true }]);
    for await (const { row: back, prediction } of estimator.predict([row]))
      console.log(back!.note.length, prediction.toFixed(1));
    await estimator.train([row], { epochs: 1 }); // error: Property 'click' is missing
    await estimator.evaluate([{ user: 'anna', tags: null, hour: 1, clik: 1 }]); // error: 'clik' does not exist
    estimator.predict([{ usr: 'anna', tags: ['a'], hour: 3 }]); // error: 'usr' does not exist
    estimator.predict([{ user: {}, tags: ['a'], hour: 3 }]); // error: is not assignable to type 'None | RawId'
    await estimator.train([{ ...row, click: 1 }], { epoch: 1 }); // error: 'epoch' does not exist`,
};

export const SCHEMA_SNIPPETS: Snippets = { prelude, programs };
