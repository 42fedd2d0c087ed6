/** @file Cases of runner_utils, and of utils and path_utils that are about files. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { copyRecursively } from '../../../src/base/files/copy-files.js';
import { findMainByMarkers, getDebuggingInfoFileName, getMetaGraphFileName } from '../../../src/base/files/paths.js';
import { getMetricPrefix } from '../../../src/base/metric-prefix.js';
import { getCheckpointState } from '../../../src/checkpoint/checkpoint-state-reader.js';
import { psDevice } from '../../../src/graph/device.js';
import { Flags } from '../../../src/train/config/flags.js';
import { prepareRunner } from '../../../src/train/config/prepare-runner.js';
import { defineProcessFlags } from '../../../src/train/config/process-flags.js';
import { RunnerConfig } from '../../../src/train/config/runner-config.js';
import { FakeClock } from '../../support/fake-clock.js';
import { type Fields, fieldsOf, NotApplicable, type ParityCase, type ParityHandlers } from '../case.js';

async function inFolder<T>(body: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'runner-utils-'));
  try {
    return await body(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const sources = () => ({ flags: defineProcessFlags(new Flags()), env: {} });

function runner(parity: ParityCase): Promise<unknown> {
  if ('discovery_type' in (parity.input as Fields) || Object.keys(parity.input as Fields).join() === 'is_local') {
    throw new NotApplicable('service discovery is not in this version');
  }
  return inFolder((dir) => restore(parity, dir));
}

/** A chief that takes a checkpoint over, a first read of the state, and a worker that comes later. */
async function restore({ input }: ParityCase, dir: string): Promise<unknown> {
  const names = ['restore_dir', 'model_dir', 'restore_ckpt', 'mode', 'is_local', 'restore_dir_checkpoint_file'];
  const given = fieldsOf(input, names, ['note']);
  const [restoreDir, modelDir] = [join(dir, String(given.restore_dir)), join(dir, String(given.model_dir))];
  mkdirSync(restoreDir);
  writeFileSync(join(restoreDir, 'checkpoint'), String(given.restore_dir_checkpoint_file));
  const values = { restoreDir, modelDir, restoreCkpt: String(given.restore_ckpt), mode: given.mode as 'train' };
  const chief = new RunnerConfig({ ...values, isLocal: given.is_local as boolean }, sources());
  await prepareRunner(chief, { env: {} });
  const state = await getCheckpointState(modelDir, { restoreCkpt: values.restoreCkpt, mode: values.mode });
  const files = readdirSync(modelDir).map((name) => {
    const text = readFileSync(join(modelDir, name), 'utf8').replaceAll(`${dir}/`, '');
    return [`${given.model_dir}/${name}`, text] as const;
  });
  const clock = new FakeClock();
  await prepareRunner(new RunnerConfig({ ...values, index: 2 }, sources()), { clock, env: {} });
  return {
    files: Object.fromEntries(files),
    // Here the marker comes with the copy; after the first read it is there in both.
    restore_ckpt_written_on: files.some(([name]) => name.endsWith('/restore_ckpt')) ? 'first state read' : 'never',
    current_basename: basename(state!.modelCheckpointPath),
    other_worker_passes: clock.sleeps.length === 0,
  };
}

function copied({ input }: ParityCase): Promise<unknown> {
  const { files, max_workers: maxWorkers } = fieldsOf(input, ['files', 'max_workers']);
  return inFolder(async (dir) => {
    const [from, to] = [join(dir, 'from'), join(dir, 'to')];
    for (const [path, text] of Object.entries(files as Record<string, string>)) {
      mkdirSync(dirname(join(from, path)), { recursive: true });
      writeFileSync(join(from, path), text);
    }
    await copyRecursively(from, to, { maxWorkers: Number(maxWorkers) });
    const found = readdirSync(to, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const paths = found.map((entry) => join(entry.parentPath, entry.name));
    return { files: Object.fromEntries(paths.map((path) => [path.slice(to.length + 1), readFileSync(path, 'utf8')])) };
  });
}

function small({ input }: ParityCase): unknown {
  const { ps_index: index, model_dir: dir, env } = fieldsOf(input, ['ps_index', 'model_dir', 'env']);
  if (Object.keys(env as Fields).length > 0) throw new NotApplicable('an environment');
  const before = process.env.MONOLITH_METRIC_PREFIX;
  delete process.env.MONOLITH_METRIC_PREFIX;
  try {
    return {
      ps_device: psDevice(Number(index)),
      debugging_info: getDebuggingInfoFileName(String(dir)),
      meta_graph: getMetaGraphFileName(String(dir)),
      metric_prefix: getMetricPrefix(),
    };
  } finally {
    if (before !== undefined) process.env.MONOLITH_METRIC_PREFIX = before;
  }
}

function markers({ input }: ParityCase): unknown {
  const { paths, exists } = fieldsOf(input, ['paths', 'exists']);
  const folder = String(exists).replace('<dir>', '');
  return { dirs: (paths as string[]).map((path) => findMainByMarkers(path, (asked) => asked.endsWith(folder))) };
}

export const handlers: ParityHandlers = {
  runner_utils: runner,
  utils: copied,
  native_utils: small,
  path_utils: markers,
};
