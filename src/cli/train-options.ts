/** @file The flags of `monolith train`: the one schema their help, defaults, checks and types come from. */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import { RESTORE_MODES } from '../checkpoint/restore-options.js';
import { DEVICE_ROWS_MAX } from '../memory/device-table-layout.js';
import { PREFETCH_MAX, THREADS_MAX } from '../memory/limits.js';
import { TABLE_BYTES_MAX, TABLE_BYTES_MIN, WHEN_FULL } from '../memory/table-layout.js';
import {
  decimalNumber,
  flagMeta,
  oneOf,
  parseFlags,
  pathName,
  refuse,
  stepRange,
  switchFlag,
  wholeNumber,
} from './flags.js';
import { humanBytes } from './human-size.js';
import { BACKENDS, DATA_SOURCES, EVAL_METRICS, MODELS, type TrainJobOptions } from './train-job.js';

const I32_MAX = 2 ** 31 - 1;
const U32_MAX = 2 ** 32 - 1;
/** Steps of a run that is not told. */
const STEPS = 2000;

/** All cores this process may use, as far as a session takes them. */
export function defaultThreads(): number {
  return Math.min(availableParallelism(), THREADS_MAX);
}

export const trainFlags = z
  .object({
    model: oneOf(MODELS)
      .default('ffm')
      .register(flagMeta, { value: 'name', help: `model to train: ${MODELS.join(', ')}` }),
    data: oneOf(DATA_SOURCES)
      .default('clicks')
      .register(flagMeta, {
        value: 'source',
        help:
          'clicks: labels drawn from a hidden model, so there is something to learn; reference: the labels are ' +
          'always 0, so there is no AUC',
      }),
    vocab: wholeNumber(1, I32_MAX).default(5).register(flagMeta, { value: 'count', help: 'ids per slot' }),
    steps: wholeNumber(1, I32_MAX)
      .nullable()
      .default(null)
      .register(flagMeta, {
        value: 'count',
        help: 'steps to train in this run, on top of restored ones',
        defaultText: String(STEPS),
      }),
    until: wholeNumber(1, Number.MAX_SAFE_INTEGER).nullable().default(null).register(flagMeta, {
      value: 'step',
      help: 'train up to this global step in place of a number of steps; with --steps too, to what comes first',
    }),
    batchSize: wholeNumber(1, 1 << 20)
      .default(64)
      .register(flagMeta, { value: 'count', help: 'examples per step' }),
    threads: wholeNumber(1, THREADS_MAX)
      .default(defaultThreads)
      .register(flagMeta, {
        value: 'count',
        help: `threads that compute, at most ${THREADS_MAX}`,
        defaultText: `all cores, here ${defaultThreads()}`,
      }),
    backend: oneOf(BACKENDS, { gpu: 'the GPU backend is called cuda', cpu: 'the CPU backend is called wasm' })
      .default('wasm')
      .register(flagMeta, {
        value: 'name',
        help:
          'wasm: SIMD kernels; reference: plain TypeScript, slow, to compare; cuda: a GPU; auto: cuda if there is a ' +
          'GPU, else wasm',
      }),
    cudaDriver: pathName().nullable().default(null).register(flagMeta, {
      value: 'path',
      help: 'driver of the cuda backend; sim: the simulated one, which runs on the CPU, slowly',
      defaultText: 'MONOLITH_CUDA_DRIVER, else libcuda.so.1',
    }),
    useGpuEmbTable: switchFlag().register(flagMeta, {
      help: 'keep embedding tables in the memory of the GPU, for tables that fit',
    }),
    gpuTableRows: wholeNumber(1, DEVICE_ROWS_MAX).nullable().default(null).register(flagMeta, {
      value: 'count',
      help: 'rows each table on the GPU has room for; more are an error',
      defaultText: 'tables grow',
    }),
    modelDir: pathName()
      .nullable()
      .default(null)
      .register(flagMeta, { value: 'dir', help: 'keep checkpoints here and go on from the newest one' }),
    restoreFrom: pathName().nullable().default(null).register(flagMeta, {
      value: 'path',
      help: 'checkpoint or model directory to begin with when --model-dir has no checkpoint yet',
    }),
    restoreMode: oneOf(RESTORE_MODES)
      .default('exact')
      .register(flagMeta, {
        value: 'mode',
        help:
          'exact: a checkpoint of this very model; subset: one that holds more; warm-start: what it lacks or has in ' +
          'another shape starts anew; foreign: one of the reference, without our manifest',
      }),
    restoreCkpt: pathName().nullable().default(null).register(flagMeta, {
      value: 'name',
      help: 'checkpoint of --model-dir to go on from in place of the newest one; acts once per directory',
    }),
    restoreDir: pathName().nullable().default(null).register(flagMeta, {
      value: 'dir',
      help: 'model directory whose checkpoint an empty --model-dir takes over, without a copy',
    }),
    seed: wholeNumber(0, U32_MAX).default(0).register(flagMeta, { value: 'number', help: 'seed of data and weights' }),
    deterministic: switchFlag().register(flagMeta, { help: 'same result for any number of threads, at some cost' }),
    tableMemory: humanBytes(TABLE_BYTES_MIN, TABLE_BYTES_MAX).nullable().default(null).register(flagMeta, {
      value: 'size',
      help: 'memory for embedding tables, for example 500m or 16g; `monolith plan` says how much',
      defaultText: '2g',
    }),
    whenFull: oneOf(WHEN_FULL)
      .default('fail')
      .register(flagMeta, {
        value: 'policy',
        help: `once tables fill that memory: ${WHEN_FULL.join(', ')}`,
      }),
    prefetch: wholeNumber(0, PREFETCH_MAX).default(0).register(flagMeta, {
      value: 'steps',
      help: 'read the rows of a batch so many steps before it is trained on; they miss as many updates',
    }),
    postpush: switchFlag().register(flagMeta, {
      help: 'give gradients to the tables in the step after theirs',
    }),
    trace: pathName()
      .nullable()
      .default(null)
      .register(flagMeta, { value: 'file', help: 'write a timeline of all threads to this file' }),
    dumpGraph: pathName()
      .nullable()
      .default(null)
      .register(flagMeta, { value: 'file', help: 'write the graph of the model to this file, as JSON' }),
    saveEvery: wholeNumber(1, I32_MAX)
      .nullable()
      .default(null)
      .register(flagMeta, { value: 'steps', help: 'save a checkpoint each so many steps, besides the last' }),
    evalEvery: wholeNumber(1, I32_MAX)
      .nullable()
      .default(null)
      .register(flagMeta, { value: 'steps', help: 'evaluate each so many steps, besides the last' }),
    metric: oneOf(EVAL_METRICS)
      .default('auc')
      .register(flagMeta, {
        value: 'name',
        help: `what --early-stop and --keep-best go by: ${EVAL_METRICS.join(', ')}`,
      }),
    minDelta: decimalNumber()
      .default(0)
      .register(flagMeta, { value: 'number', help: 'how much better it has to be to count' }),
    earlyStop: wholeNumber(1, I32_MAX)
      .nullable()
      .default(null)
      .register(flagMeta, { value: 'count', help: 'stop after so many evaluations in a row that were no better' }),
    keepBest: switchFlag().register(flagMeta, { help: 'keep the best checkpoint in the folder best of --model-dir' }),
    csv: pathName()
      .nullable()
      .default(null)
      .register(flagMeta, { value: 'file', help: 'log loss, speed and evaluations to this file' }),
    summaryEvery: wholeNumber(0, I32_MAX).default(100).register(flagMeta, {
      value: 'steps',
      help: 'steps between two points of TensorBoard summaries in --model-dir; 0 writes none',
    }),
    csvEvery: wholeNumber(1, I32_MAX)
      .default(100)
      .register(flagMeta, { value: 'steps', help: 'steps between two rows of --csv' }),
    profile: stepRange()
      .nullable()
      .default(null)
      .register(flagMeta, { value: 'a:b', help: 'trace the steps from a up to b, without b, to a file' }),
    profileEvery: wholeNumber(1, I32_MAX)
      .nullable()
      .default(null)
      .register(flagMeta, { value: 'steps', help: 'trace as many steps again each so many steps' }),
    profileDir: pathName().nullable().default(null).register(flagMeta, {
      value: 'dir',
      help: 'folder of these files',
      defaultText: '--model-dir, else the working folder',
    }),
    config: pathName().nullable().default(null).register(flagMeta, {
      value: 'file',
      help: 'settings as JSON or as a module; flags go before them',
      defaultText: 'monolith.config.* of the working folder, if there is one',
    }),
    dryRun: switchFlag().register(flagMeta, {
      help: 'print all settings, each with where it came from, and train nothing',
    }),
    json: switchFlag().register(flagMeta, { help: 'print events as JSON lines' }),
    quiet: switchFlag().register(flagMeta, { help: 'print the result only' }),
    verbose: switchFlag().register(flagMeta, { help: 'show causes and stacks of errors' }),
  })
  .superRefine((flags, context) => {
    if (flags.saveEvery !== null && flags.modelDir === null) {
      refuse(context, 'needs a place to save to', 'add --model-dir DIR', 'saveEvery');
    }
    const evaluates = flags.evalEvery !== null;
    if (flags.earlyStop !== null && !evaluates) {
      refuse(context, 'needs evaluations', 'add --eval-every STEPS', 'earlyStop');
    }
    if (flags.keepBest && !evaluates) refuse(context, 'needs evaluations', 'add --eval-every STEPS', 'keepBest');
    if (flags.keepBest && flags.modelDir === null) {
      refuse(context, 'needs a place to save to', 'add --model-dir DIR', 'keepBest');
    }
    if (flags.minDelta !== 0 && flags.earlyStop === null && !flags.keepBest) {
      refuse(context, 'is for --early-stop and --keep-best', 'add one of them', 'minDelta');
    }
    if (flags.profileEvery !== null && flags.profile === null) {
      refuse(context, 'needs a first range of steps', 'add --profile 100:110', 'profileEvery');
    }
    if (flags.profileEvery !== null && flags.profile !== null) {
      const steps = flags.profile.end - flags.profile.first;
      const hint = `give more than the ${steps} steps of --profile`;
      if (flags.profileEvery <= steps) refuse(context, 'is no longer than what it repeats', hint, 'profileEvery');
    }
    if (flags.profileDir !== null && flags.profile === null) {
      refuse(context, 'is for --profile', 'add --profile 100:110', 'profileDir');
    }
    if (flags.csv !== null && flags.trace !== null && resolve(flags.csv) === resolve(flags.trace)) {
      refuse(context, 'is the same file as --trace', 'give each a file of its own', 'csv');
    }
    if (flags.cudaDriver !== null && flags.backend !== 'cuda' && flags.backend !== 'auto') {
      refuse(context, `is not for the ${flags.backend} backend`, 'add --backend cuda', 'cudaDriver');
    }
    if (flags.useGpuEmbTable && flags.backend !== 'cuda' && flags.backend !== 'auto') {
      refuse(context, `is not for the ${flags.backend} backend`, 'add --backend cuda', 'useGpuEmbTable');
    }
    if (flags.gpuTableRows !== null && !flags.useGpuEmbTable) {
      refuse(context, 'is for tables on the GPU', 'add --use-gpu-emb-table', 'gpuTableRows');
    }
    if (flags.quiet && flags.verbose) refuse(context, 'contradicts --verbose', 'give one of the two', 'quiet');
    if (flags.dumpGraph !== null && flags.trace !== null && resolve(flags.dumpGraph) === resolve(flags.trace)) {
      refuse(context, 'is the same file as --trace', 'give each a file of its own', 'dumpGraph');
    }
    if (flags.trace !== null && flags.modelDir !== null && resolve(flags.trace) === resolve(flags.modelDir)) {
      refuse(context, 'is the same path as --model-dir', 'one is a file, the other a folder', 'trace');
    }
  });

export type TrainFlags = z.output<typeof trainFlags>;

/**
 * Checks the flags commander found.
 *
 * ```ts
 * parseTrainFlags({ steps: '100' }).steps; // 100
 * ```
 */
export function parseTrainFlags(raw: unknown): TrainFlags {
  const flags = parseFlags(trainFlags, raw, 'train');
  return { ...flags, steps: flags.steps ?? (flags.until === null ? STEPS : null) };
}

/** The part of the flags that the training job sees. */
export function toJobOptions(flags: TrainFlags, progressIntervalMs: number, signal: AbortSignal): TrainJobOptions {
  const { saveEvery, config: _config, dryRun: _dryRun, json: _json, quiet: _quiet, verbose: _verbose, ...rest } = flags;
  return { ...rest, saveEverySteps: saveEvery, progressIntervalMs, signal };
}
