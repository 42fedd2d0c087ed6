/**
 * @file TensorFlow reads what this package writes. Needs MONOLITH_ORACLE_PYTHON, a Python with TensorFlow, and else
 * skips.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { Graph } from '../../src/graph/graph.js';
import { variable } from '../../src/graph/ops/state.js';
import { TENSOR_DTYPE } from '../../src/io/event-messages.js';
import { SnappyStream } from '../../src/io/snappy-writer.js';
import { type BundleTensor, readTensorBundle, sortedByName, writeTensorBundle } from '../../src/io/tensor-bundle.js';
import { EventFileWriter } from '../../src/summary/event-file-writer.js';
import { nasData } from '../../src/summary/summary-ops.js';
import { runCli } from '../cli/run-cli.js';
import { recordBytes } from '../io/snappy-stream.js';
import { missing } from '../requirement.js';
import { files } from './fixture.js';

const python = process.env.MONOLITH_ORACLE_PYTHON;
const script = (name: string) => fileURLToPath(new URL(`../../../test/oracle/${name}`, import.meta.url));
const LIMIT_MS = 60_000;

async function tensorflow<T>(...args: readonly string[]): Promise<T> {
  const env = { ...process.env, TF_CPP_MIN_LOG_LEVEL: '3', CUDA_VISIBLE_DEVICES: '' };
  const { stdout } = await promisify(execFile)(python!, [script('read_files.py'), ...args], { timeout: LIMIT_MS, env });
  return JSON.parse(stdout) as T;
}

const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'));

/** A tensor as read_files.py prints it. */
const printed = ({ name, dtype, shape, data }: BundleTensor) => ({
  name,
  dtype,
  shape,
  data: ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')
    : data.map((each) => Buffer.from(each).toString('base64')),
});

if (python === undefined) {
  t.pass('TensorFlow', { skip: missing('oracle', 'MONOLITH_ORACLE_PYTHON names no Python with TensorFlow') });
} else {
  t.test('TensorFlow reads a bundle with every element type', async (t) => {
    const dir = t.testdir();
    const { files: written, tensors } = files.bundles[0]!;
    for (const [name, text] of Object.entries(written)) writeFileSync(join(dir, name), bytesOf(text));
    const ours = join(dir, 'ours');
    await writeTensorBundle(ours, readTensorBundle(join(dir, 'model.ckpt-1')));
    t.same(await tensorflow('bundle', ours), sortedByName(tensors));
  });

  t.test('TensorFlow finds the checkpoint of a trained model and reads its dense part', async (t) => {
    const dir = t.testdir();
    const model = join(dir, 'model');
    const args = ['train', '--steps', '3', '--batch-size', '64', '--threads', '2', '--model-dir', model, '--quiet'];
    t.equal((await runCli(args, { cwd: dir })).code, 0);
    type Model = { latest: string; all: string[]; tensors: unknown[] };
    const { latest, all, tensors } = await tensorflow<Model>('model', model);
    t.equal(latest, join(model, 'model.ckpt-3'));
    t.ok(all.includes(latest));
    t.same(tensors, readTensorBundle(latest).map(printed));
    t.ok(tensors.length > 0);
  });

  t.test('TensorBoard lists and reads the summaries of a training', async (t) => {
    const dir = t.testdir();
    const model = join(dir, 'model');
    const args = ['train', '--steps', '21', '--summary-every', '10', '--eval-every', '10', '--batch-size', '64'];
    t.equal((await runCli([...args, '--threads', '2', '--model-dir', model, '--quiet'], { cwd: dir })).code, 0);
    const weight = variable(new Graph(), { name: 'w', shape: [2], initial: () => Float32Array.of(0.5, 0.8) });
    const { tag, metadata } = nasData(weight, { segmentNames: ['a', 'b'], segmentSizes: [1, 1] });
    const tensor = {
      dtype: TENSOR_DTYPE.float32,
      tensorShape: { dim: [{ size: 2n }] },
      tensorContent: new Uint8Array(Float32Array.of(0.5, 0.8).buffer),
      stringVal: [],
    };
    const writer = await EventFileWriter.open(join(model, 'nas'));
    for (const step of [0, 1]) await writer.addSummary([{ tag, tensor, ...(metadata && { metadata }) }], step);
    await writer.close();
    const { stdout } = await promisify(execFile)(python, [script('read_events.py'), model], { timeout: LIMIT_MS });
    const { runs, tensors, scalars } = JSON.parse(stdout);
    t.same(runs['.'].loss.steps, [1, 11, 21]);
    t.ok(scalars['.'].includes('ffm_auc') && scalars.eval.includes('auc'));
    t.same(tensors, { nas: ['gating/monolith_nas_weight'] });
    t.match(runs.nas[tag], { plugin: 'monolith', content: /"segment_names": \["a", "b"\]/, steps: [0, 1] });
  });

  t.test('TensorFlow reads records, plain and in a snappy stream', async (t) => {
    const dir = t.testdir();
    const bytes = await recordBytes(files.payloads.map(bytesOf));
    writeFileSync(join(dir, 'plain'), bytes);
    t.same(await tensorflow('records', join(dir, 'plain')), files.payloads);
    const parts: Uint8Array[] = [];
    const sink = new SnappyStream({ write: async (part) => void parts.push(part.slice()) });
    await sink.write(bytes);
    await sink.flush();
    writeFileSync(join(dir, 'snappy'), Buffer.concat(parts));
    t.same(await tensorflow('records', join(dir, 'snappy'), 'SNAPPY'), files.payloads);
  });
}
