import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import * as ml from '../../src/index.js';
import { Graph, type Op, type Tensor } from '../../src/index.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';
import { distance, numbers, type OpCase } from './fixture.js';

type Named = Readonly<Record<string, Tensor>>;
/** Arguments of all kinds of cases; each has its own. */
interface Args {
  readonly slope: number;
  readonly k: number;
  readonly low: number;
  readonly high: number;
  readonly epsilon: number;
  readonly momentum: number;
  readonly training?: boolean;
  readonly moving?: Readonly<Record<string, readonly number[]>>;
  readonly after?: Readonly<Record<string, readonly number[]>>;
  readonly posWeight: number;
  readonly gamma: number;
  readonly alpha: number | null;
  readonly heads: number;
  readonly keyDim: number;
  readonly sizes: readonly number[];
  readonly version: 1 | 2;
}
type Build = (tensors: Named, args: Args, name: string) => Tensor;

const OPS: Readonly<Record<string, Build>> = {
  relu: ({ x }) => ml.ops.relu(x!),
  sigmoid: ({ x }) => ml.ops.sigmoid(x!),
  tanh: ({ x }) => ml.ops.tanh(x!),
  gelu: ({ x }) => ml.ops.gelu(x!),
  geluTanh: ({ x }) => ml.ops.gelu(x!, { approximate: true }),
  swish: ({ x }) => ml.ops.swish(x!),
  softplus: ({ x }) => ml.ops.softplus(x!),
  leakyRelu: ({ x }, { slope }) => ml.ops.leakyRelu(x!, { slope }),
  prelu: ({ x, slope }) => ml.ops.prelu(x!, slope!),
  softmax: ({ x }) => ml.ops.softmax(x!),
  softmaxMasked: ({ x, mask }) => ml.ops.softmax(x!, { mask: mask! }),
  l2Normalize: ({ x }) => ml.ops.l2Normalize(x!),
  topK: ({ x }, { k }) => {
    const { values, indices } = ml.ops.topK(x!, k);
    return ml.ops.concatColumns([values, indices]);
  },
  clipByValue: ({ x }, { low, high }) => ml.ops.clipByValue(x!, low, high),
  layerNorm: ({ x, gain, bias }, { epsilon }) => ml.ops.layerNorm(x!, gain!, bias!, { epsilon }),
  layerNormDefault: ({ x }) => {
    const fill = (value: number) =>
      ml.ops.constant(x!.graph, new Float32Array(x!.columns).fill(value), { shape: [x!.columns] });
    return ml.ops.layerNorm(x!, fill(1), fill(0));
  },
  batchNorm: ({ x, gamma, beta }, { momentum }, name) => {
    const normal = ml.ops.batchNorm(x!, { momentum, center: false, scale: false, name });
    return ml.ops.add(ml.ops.mul(normal, gamma!), beta!);
  },
  softmaxCrossEntropy: ({ logits, labels }) => ml.losses.softmaxCrossEntropyWithLogits(logits!, labels!),
  sparseSoftmaxCrossEntropy: ({ logits, labels }) => ml.losses.sparseSoftmaxCrossEntropyWithLogits(logits!, labels!),
  sigmoidCrossEntropy: ({ logits, labels }) => ml.losses.sigmoidCrossEntropyWithLogits(logits!, labels!),
  weightedCrossEntropy: ({ logits, labels }, { posWeight }) =>
    ml.losses.weightedCrossEntropyWithLogits(logits!, labels!, { posWeight }),
  focal: ({ logits, labels }, { gamma, alpha }) => ml.losses.focalLoss(logits!, labels!, { gamma, alpha }),
  hinge: ({ logits, labels }) => ml.losses.hingeLoss(logits!, labels!),
  squaredError: ({ logits, labels }) => ml.losses.squaredError(logits!, labels!),
  multiHeadAttention: ({ x, mask }, { heads, keyDim }, name) =>
    new ml.nn.AttentionLayer({ heads, keyDim, name }).call(x!, { mask: mask! }),
  cin: ({ x }, { sizes }, name) => new ml.nn.CinLayer(sizes, { name }).call(x!),
  cross: ({ x }, { version }, name) => new ml.nn.CrossLayer(1, { version, name }).call(x!),
};
/** Cases whose weights are variables that a layer makes. */
const LAYERS = new Set(['multiHeadAttention', 'cin', 'cross']);

/** TensorFlow's erf and exp are rounded otherwise than ours; sums of a few terms add to that. */
const TOLERANCE = 3e-6;

/** Adds a case to a graph, its placeholders and variables under names of its own. */
function build(graph: Graph, { name, args, feeds, weights, factors, grads }: OpCase, scope: string) {
  const values: Record<string, Float32Array> = {};
  const tensors: Record<string, Tensor> = {};
  for (const [key, { shape, values: numbers }] of Object.entries(feeds)) {
    const inner = shape.slice(1);
    const width = inner.reduce((product, size) => product * size, 1);
    const flat = ml.ops.placeholder(graph, { name: `in_${scope}/${key}`, width });
    values[`in_${scope}/${key}`] = Float32Array.from(numbers);
    tensors[key] = inner.length > 1 ? ml.ops.reshape(flat, inner) : flat;
  }
  if (!LAYERS.has(name)) {
    for (const [key, { shape, values }] of Object.entries(weights)) {
      tensors[key] = ml.ops.variable(graph, {
        name: `of_${scope}/${key}`,
        shape,
        initial: () => Float32Array.from(values),
      });
    }
  }
  const out = OPS[name]!(tensors, args as unknown as Args, scope);
  const width = out.columns;
  const factor = ml.ops.placeholder(graph, { name: `in_${scope}/factors`, width });
  values[`in_${scope}/factors`] = Float32Array.from(factors);
  const flat = out.spec.shape.length > 2 ? ml.ops.reshape(out, [width]) : out;
  const loss =
    width === 1 ? ml.ops.reduceMean(ml.ops.mul(flat, factor)) : ml.ops.reduceMean(ml.ops.rowDot(flat, factor));
  for (const variable of graph.getCollection<Tensor>(ml.graphs.VARIABLES)) {
    const [, owner, key] = /^(?:of_)?([^/]*)\/(.*)$/.exec(variable.op.name)!;
    if (owner === scope) tensors[key!] = variable;
  }
  const targets = Object.keys(grads).map((key) => tensors[key]!);
  return { out, grads: gradients([loss], targets) as Tensor[], tensors, values };
}

for (const backend of BACKENDS) {
  t.test(`ops and their gradients are those of TensorFlow (${backend})`, async (t) => {
    const graph = new Graph();
    const built = numbers.ops.map((oracle, index) => {
      const scope = `${oracle.name}_${index}`;
      return { oracle, scope, args: oracle.args as unknown as Args, ...build(graph, oracle, scope) };
    });
    const feeds = Object.assign({}, ...built.map(({ values }) => values));
    await withSession(graph, { backend, batchSize: numbers.batch, threads: 2 }, async (session) => {
      for (const { oracle, scope, args, tensors } of built) {
        for (const [key, { values }] of Object.entries(oracle.weights)) {
          session.writeVariable(tensors[key]!.op.name, Float32Array.from(values));
        }
        for (const [key, values] of Object.entries(args.moving ?? {})) {
          session.writeVariable(`${scope}/${key}`, Float32Array.from(values));
        }
      }
      // The first program updates nothing: it evaluates. The second one trains.
      for (const training of [false, true]) {
        const cases = built.filter(({ args }) => (args.training ?? false) === training);
        const updates = training ? graph.getCollection<Op>(ml.graphs.UPDATE_OPS) : [];
        const found = await session.run([cases.map(({ out, grads }) => [out, ...grads]), updates], feeds);
        cases.forEach(({ oracle, scope, args }, index) => {
          const expected = [oracle.out, ...Object.values(oracle.grads)];
          expected.forEach((values, i) => {
            const what = ['its output', ...Object.keys(oracle.grads)][i];
            const off = distance(found[0][index]![i] as Float32Array, values);
            t.ok(off < TOLERANCE, `${scope}, ${what}: ${off}`);
          });
          for (const [key, after] of Object.entries(args.after ?? {})) {
            const off = distance(session.readVariable(`${scope}/${key}`) as Float32Array, after);
            t.ok(off < TOLERANCE, `${scope}, ${key} afterwards: ${off}`);
          }
        });
      }
    });
  });
}

t.test('clipping is that of TensorFlow', async (t) => {
  const { shapes, values, cases } = numbers.clipping;
  const graph = new Graph();
  const tensors = values.map((each, i) => ml.ops.constant(graph, each, { shape: shapes[i]! }));
  await withSession(graph, { schema: [] }, async (session) => {
    for (const { clip, norm, global, each } of cases) {
      const { clipped, globalNorm } = ml.ops.clipByGlobalNorm(tensors, clip);
      const alone = tensors.map((tensor) => ml.ops.clipByNorm(tensor, clip));
      const found = await session.run([globalNorm as Tensor, ...clipped, ...alone]);
      const expected = [norm, ...global, ...each];
      const off = found.map((value, i) =>
        distance(typeof value === 'number' ? [value] : (value as Float32Array), expected[i]!),
      );
      t.ok(
        off.every((value) => value < 1e-6),
        `clipped to ${clip}`,
        { off },
      );
    }
  });
});

t.test('dropout scales what it keeps as tf.nn.dropout does', async (t) => {
  const graph = new Graph();
  const x = ml.ops.placeholder(graph, { name: 'x', width: 50 });
  const out = ml.ops.dropout(x, { rate: 0.3, training: true });
  const values = Float32Array.from({ length: 200 }, (_, i) => 1 + i);
  await withSession(graph, { batchSize: 4 }, async (session) => {
    const [found] = (await session.run([out], { x: values })) as [Float32Array];
    // tf.nn.dropout multiplies by 1 / (1 - rate) in float32.
    const kept = [...found.entries()].filter(([, value]) => value !== 0);
    t.ok(kept.length > 100 && kept.length < 180);
    t.ok(kept.every(([i, value]) => value === Math.fround(values[i]! * Math.fround(1 / 0.7))));
  });
});
