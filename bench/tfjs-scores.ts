/**
 * @file The DeepFM of the bench of serving on TensorFlow.js, wasm backend: from the npm registry when it is asked for.
 *
 * Of the same shape, with weights of its own: what is compared is time. Rows are looked up in a Map and gathered in
 * JavaScript, which is faster there than its gather over a table of 64-bit ids could be: it has none.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { EncodedChunk } from '../src/serve/chunks.js';
import { npmPackage } from '../test/support/npm-package.js';

type Tensor = { dataSync(): Float32Array };
interface Tfjs {
  setBackend(name: string): Promise<boolean>;
  ready(): Promise<void>;
  tidy<T>(body: () => T): T;
  tensor(values: Float32Array, shape: readonly number[]): Tensor;
  randomUniform(shape: readonly number[], from: number, to: number): Tensor;
  zeros(shape: readonly number[]): Tensor;
  concat(parts: readonly Tensor[], axis: number): Tensor;
  reshape(x: Tensor, shape: readonly number[]): Tensor;
  matMul(a: Tensor, b: Tensor): Tensor;
  add(a: Tensor, b: Tensor): Tensor;
  sub(a: Tensor, b: Tensor): Tensor;
  mul(a: Tensor, b: number): Tensor;
  relu(x: Tensor): Tensor;
  square(x: Tensor): Tensor;
  sum(x: Tensor, axis: number): Tensor;
  squeeze(x: Tensor, axes: readonly number[]): Tensor;
  sigmoid(x: Tensor): Tensor;
}

const VERSION = '4.22.0';
const CORE = '@tensorflow/tfjs-core';
const WASM = '@tensorflow/tfjs-backend-wasm';
const DIM = 16;
const IDS = ['user', 'item', 'tags'] as const;
const NUMBERS = ['price', 'age'] as const;
const SIZES = [IDS.length * DIM + NUMBERS.length, 64, 32, 1];

interface Ragged {
  readonly splits: Int32Array;
  readonly values: BigInt64Array;
}

/** Scores of encoded rows; fails with the words of npm where the packages cannot be had. */
export async function tfjsScores(ids: number): Promise<(chunk: EncodedChunk) => Promise<Float32Array[]>> {
  // The backend brings the core along, as its peer.
  const found = await npmPackage(WASM, VERSION, [`${CORE}@${VERSION}`]);
  if ('reason' in found) throw new Error(found.reason);
  const require = createRequire(join(found.folder, 'package.json'));
  const tf = require(CORE) as Tfjs;
  const wasm = require(WASM) as { setWasmPaths(folder: string): void };
  wasm.setWasmPaths(`${dirname(require.resolve(WASM))}/`);
  await tf.setBackend('wasm');
  await tf.ready();
  const tables = IDS.map((name) => {
    const rows = name === 'user' ? ids : name === 'item' ? 5000 : 64;
    const at = new Map(Array.from({ length: rows }, (_, row) => [BigInt(row), row] as const));
    return { name, at, weights: Float32Array.from({ length: rows * (DIM + 1) }, (_, i) => ((i % 97) - 48) / 1000) };
  });
  const layers = SIZES.slice(1).map((units, layer) => [
    tf.randomUniform([SIZES[layer]!, units], -0.1, 0.1),
    tf.zeros([units]),
  ]);
  return async ({ feeds, count }) => {
    const vectors = new Float32Array(count * IDS.length * DIM);
    const biases = new Float32Array(count * IDS.length);
    for (const [field, { name, at, weights }] of tables.entries()) {
      const given = feeds[name] as unknown as BigInt64Array | Ragged;
      for (let row = 0; row < count; row++) {
        const [first, end] = 'splits' in given ? [given.splits[row]!, given.splits[row + 1]!] : [row, row + 1];
        const values = 'splits' in given ? given.values : given;
        for (let one = first; one < end; one++) {
          const from = (at.get(values[one]!) ?? -1) * (DIM + 1);
          if (from < 0) continue;
          const to = (row * IDS.length + field) * DIM;
          for (let d = 0; d < DIM; d++) vectors[to + d]! += weights[from + d]!;
          biases[row * IDS.length + field]! += weights[from + DIM]!;
        }
      }
    }
    const numbers = new Float32Array(count * NUMBERS.length);
    for (const [column, name] of NUMBERS.entries()) {
      const given = feeds[name] as Float32Array;
      for (let row = 0; row < count; row++) numbers[row * NUMBERS.length + column] = given[row]!;
    }
    const scores = tf.tidy(() => {
      const v = tf.tensor(vectors, [count, IDS.length, DIM]);
      let hidden = tf.concat(
        [tf.reshape(v, [count, IDS.length * DIM]), tf.tensor(numbers, [count, NUMBERS.length])],
        1,
      );
      for (const [at, [kernel, bias]] of layers.entries()) {
        hidden = tf.add(tf.matMul(hidden, kernel!), bias!);
        if (at < layers.length - 1) hidden = tf.relu(hidden);
      }
      const pairs = tf.mul(tf.sum(tf.sub(tf.square(tf.sum(v, 1)), tf.sum(tf.square(v), 1)), 1), 0.5);
      const linear = tf.sum(tf.tensor(biases, [count, IDS.length]), 1);
      return tf
        .sigmoid(tf.add(tf.add(tf.squeeze(hidden, [1]), pairs), linear))
        .dataSync()
        .slice();
    });
    return [scores];
  };
}
