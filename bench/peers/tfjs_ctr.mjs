/**
 * @file ctr-ref DeepFM on TensorFlow.js; one JSON line.
 *
 *   node tfjs_ctr.mjs <folder> --backend wasm|cpu --batch 512 [--seconds 20] [--threads 1]
 *
 * Needs `@tensorflow/tfjs` and `@tensorflow/tfjs-backend-wasm` where it is started. TensorFlow.js has no sparse
 * gradients: that of a gather is as large as the table. So the table is in typed arrays, rows are gathered and stepped
 * in plain JavaScript, and TensorFlow.js does the pairs, the layers, their gradients and their Adagrad. Ids are the
 * given rows: no table of ids, a gift.
 */
import { openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { CATEGORIES, DENSE, VOCABULARY } from '../../build/bench/ctr-ref.js';
import { auc } from '../../build/src/metrics/auc.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    backend: { type: 'string', default: 'wasm' },
    batch: { type: 'string', default: '512' },
    seconds: { type: 'string', default: '20' },
    threads: { type: 'string', default: '1' },
  },
});
const [folder] = positionals;
const [batch, seconds, threads] = [Number(values.batch), Number(values.seconds), Number(values.threads)];
const tf = await loadTensorflow(values.backend);

const HEADER_BYTES = 64;
const TEST_BATCH = 4096;
const DIM = 16;
/** Floats of a row: a weight and a vector. */
const WIDTH = DIM + 1;
const RATE = 0.02;
const SIZES = [CATEGORIES * DIM + DENSE, 256, 128, 64, 1];
const LAYERS = SIZES.length - 1;

async function loadTensorflow(backend) {
  const require = createRequire(join(process.cwd(), 'package.json'));
  try {
    const tensorflow = require('@tensorflow/tfjs');
    if (backend === 'wasm') {
      const wasm = require('@tensorflow/tfjs-backend-wasm');
      wasm.setWasmPaths(`${dirname(require.resolve('@tensorflow/tfjs-backend-wasm'))}/`);
      if (threads > 1) {
        tensorflow.env().set('WASM_HAS_MULTITHREAD_SUPPORT', true);
        wasm.setThreadsCount(threads);
      }
    }
    await tensorflow.setBackend(backend);
    await tensorflow.ready();
    return tensorflow;
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    console.log(JSON.stringify({ system: 'tfjs', model: 'deepfm', skipped: error.message.split('\n')[0] }));
    process.exit(0);
  }
}

function openData(name) {
  const file = openSync(join(folder, `${name}.bin`), 'r');
  const rows = openSync(join(folder, `${name}.rows`), 'r');
  const read = (handle, array, at) => {
    readSync(handle, new Uint8Array(array.buffer), 0, array.byteLength, at);
    return array;
  };
  const [count] = read(file, new Uint32Array(1), 8);
  return {
    count,
    batch: (first, size) => ({
      labels: read(file, new Float32Array(size), HEADER_BYTES + 4 * first),
      dense: read(file, new Float32Array(size * DENSE), HEADER_BYTES + 4 * (count + first * DENSE)),
      keys: read(rows, new Uint32Array(size * CATEGORIES), 4 * first * CATEGORIES),
    }),
  };
}

const table = new Float32Array(VOCABULARY * WIDTH);
const norms = new Float32Array(VOCABULARY * WIDTH);
/** Place of a row among the unique rows of a batch, -1 outside. */
const places = new Int32Array(VOCABULARY).fill(-1);

function fillTable() {
  let state = 1;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 8) / 2 ** 24;
  };
  for (let i = 0; i < table.length; i++) table[i] = i % WIDTH === 0 ? 0 : 0.02 * (uniform() + uniform() - 1);
}

function gather(keys) {
  const weights = new Float32Array(keys.length);
  const vectors = new Float32Array(keys.length * DIM);
  for (let i = 0; i < keys.length; i++) {
    const row = keys[i] * WIDTH;
    weights[i] = table[row];
    for (let d = 0; d < DIM; d++) vectors[i * DIM + d] = table[row + 1 + d];
  }
  return [weights, vectors];
}

/** Sums the gradients of each row, then steps it once. */
function applyAdagrad(keys, weightGradients, vectorGradients) {
  const unique = [];
  const sums = new Float32Array(keys.length * WIDTH);
  for (let i = 0; i < keys.length; i++) {
    if (places[keys[i]] < 0) places[keys[i]] = unique.push(keys[i]) - 1;
    const sum = places[keys[i]] * WIDTH;
    sums[sum] += weightGradients[i];
    for (let d = 0; d < DIM; d++) sums[sum + 1 + d] += vectorGradients[i * DIM + d];
  }
  unique.forEach((key, place) => {
    places[key] = -1;
    for (let d = 0; d < WIDTH; d++) {
      const gradient = sums[place * WIDTH + d];
      norms[key * WIDTH + d] += gradient * gradient;
      table[key * WIDTH + d] -= (RATE * gradient) / (Math.sqrt(norms[key * WIDTH + d]) + 1e-8);
    }
  });
}

const kernels = [];
const biases = [];
for (let layer = 0; layer < LAYERS; layer++) {
  const shape = [SIZES[layer], SIZES[layer + 1]];
  const bound = 1 / Math.sqrt(SIZES[layer]);
  kernels.push(tf.variable(tf.randomUniform(shape, -bound, bound, 'float32', 7 + layer)));
  biases.push(tf.variable(tf.zeros([SIZES[layer + 1]])));
}
const linear = tf.variable(tf.zeros([DENSE, 1]));
const bias = tf.variable(tf.zeros([1]));
const variables = [...kernels, ...biases, linear, bias];
const optimizer = tf.train.adagrad(0.01, 0);

function logits(weights, vectors, dense) {
  let hidden = tf.concat([vectors.reshape([vectors.shape[0], -1]), dense], 1);
  for (let layer = 0; layer < LAYERS; layer++) {
    hidden = hidden.matMul(kernels[layer]).add(biases[layer]);
    if (layer < LAYERS - 1) hidden = hidden.relu();
  }
  const pairs = vectors.sum(1).square().sub(vectors.square().sum(1)).sum(1).mul(0.5);
  const first = dense.matMul(linear).squeeze([1]).add(weights.sum(1)).add(bias);
  return hidden.squeeze([1]).add(pairs).add(first);
}

function inputs(keys, dense) {
  const count = keys.length / CATEGORIES;
  const [weights, vectors] = gather(keys);
  return [
    tf.tensor2d(weights, [count, CATEGORIES]),
    tf.tensor3d(vectors, [count, CATEGORIES, DIM]),
    tf.tensor2d(dense, [count, DENSE]),
  ];
}

function step({ labels, dense, keys }) {
  const gradients = tf.tidy(() => {
    const [weightValues, vectorValues, x] = inputs(keys, dense);
    const y = tf.tensor1d(labels);
    const weights = tf.variable(weightValues);
    const vectors = tf.variable(vectorValues);
    const loss = () => {
      const z = logits(weights, vectors, x);
      return z.relu().sub(z.mul(y)).add(z.abs().neg().exp().add(1).log()).mean();
    };
    const { value, grads } = tf.variableGrads(loss, [...variables, weights, vectors]);
    const { [weights.name]: weightGradient, [vectors.name]: vectorGradient, ...others } = grads;
    optimizer.applyGradients(others);
    const sparse = [weightGradient.dataSync(), vectorGradient.dataSync()];
    for (const used of [weights, vectors, value]) used.dispose();
    return sparse;
  });
  applyAdagrad(keys, ...gradients);
}

fillTable();
const train = openData('train');
const test = openData('test');
const begin = performance.now();
const times = [];
for (let at = 0; at + batch <= train.count && performance.now() - begin < seconds * 1e3; at += batch) {
  const start = performance.now();
  step(train.batch(at, batch));
  times.push(performance.now() - start);
}
const scores = new Float32Array(test.count);
const labels = new Float32Array(test.count);
for (let at = 0; at < test.count; at += TEST_BATCH) {
  const part = test.batch(at, Math.min(TEST_BATCH, test.count - at));
  scores.set(
    tf.tidy(() => logits(...inputs(part.keys, part.dense)).dataSync()),
    at,
  );
  labels.set(part.labels, at);
}
const counted = times.slice(Math.min(3, times.length - 1)).sort((a, b) => a - b);
const totalMs = counted.reduce((sum, ms) => sum + ms, 0);
const result = {
  system: `tfjs-${tf.version['tfjs-core']}-${values.backend}`,
  model: 'deepfm',
  batch,
  threads,
  examples: batch * times.length,
  examples_per_s: Math.round((batch * counted.length) / (totalMs / 1e3)),
  step_ms_median: Number(counted[counted.length >> 1].toFixed(2)),
  peak_rss_mb: Math.round(process.resourceUsage().maxRSS / 1024),
  auc: Number(auc(labels, scores).toFixed(4)),
};
console.log(JSON.stringify(result));
// Worker threads of the backend would keep the process alive.
process.exit(0);
