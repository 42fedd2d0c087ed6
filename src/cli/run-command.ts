/**
 * @file `monolith run`: the training binaries of the reference, with their flags.
 *
 * `native` takes the flags of RunnerConfig, `gpu` and `tpu` those of gpu_runner and tpu_runner. All run a task by its
 * name, or that of a module, on this machine: what needs a cluster is refused.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MonolithError } from '../base/errors.js';
import { registerDemoTasks } from '../demo/demo-tasks.js';
import { type ConfigRecord, fieldsOf, originOf, propertiesOf } from '../train/config/config-record.js';
import { Flags } from '../train/config/flags.js';
import { extractFlags, parseFlags, update } from '../train/config/gflags-utils.js';
import { prepareRunner } from '../train/config/prepare-runner.js';
import { defineProcessFlags } from '../train/config/process-flags.js';
import { resolveConfig, settingsOf } from '../train/config/resolved-config.js';
import { RunnerConfig } from '../train/config/runner-config.js';
import '../serve/provide.js';
import type { BaseRunner, RunnerOptions, RunnerResult } from '../train/runners/base-runner.js';
import { GpuRunner } from '../train/runners/gpu-runner.js';
import { NativeRunner } from '../train/runners/native-runner.js';
import { overrideParams } from '../train/runners/params-override.js';
import { GpuRunnerSettings, TpuRunnerSettings } from '../train/runners/runner-settings.js';
import type { RunnerTask } from '../train/runners/runner-task.js';
import { createTask } from '../train/runners/task-registry.js';
import { TpuRunner } from '../train/runners/tpu-runner.js';
import type { ModelGiven } from '../train/tasks/model-given.js';
import { runnerTaskOf } from '../train/tasks/runner-task-of.js';
import { printSettings } from './dry-run.js';
import type { CliIo } from './io.js';
import { jsonLine } from './json-line.js';
import { EXIT_DONE, EXIT_FAILED } from './report.js';
import { SIGNAL_EXIT } from './stop-signals.js';

export const RUNNERS = ['native', 'gpu', 'tpu'] as const;
export type RunnerName = (typeof RUNNERS)[number];

const DEFAULT_TASK = 'ffm';
const SWITCHES = {
  dry_run: 'bool, default=false, Print all settings, each with where it came from, and run nothing.',
  json: 'bool, default=false, Print JSON.',
  verbose: 'bool, default=false, Show causes and stacks of errors.',
};

/** Runs a runner with the words after its name, and returns the exit code. */
export async function runRunner(name: RunnerName, args: readonly string[], io: CliIo): Promise<number> {
  const flags = flagsOf(name);
  if (args.some((arg) => /^--?(?:h|help|helpshort|helpfull)$/.test(arg))) {
    io.out.write(`Usage: monolith run ${name} [flags]\n\n${flags.help()}\n`);
    return EXIT_DONE;
  }
  const { rest, exitCode } = parseFlags(flags, args, (text) => io.err.write(text));
  if (exitCode !== 0) return EXIT_FAILED;
  if (rest.length > 0) {
    const reason = `takes flags only, found "${rest[0]}"`;
    throw new MonolithError('ML_FLAG', { flag: `run ${name}`, reason }, { hint: 'write --task=NAME' });
  }
  const json = flags.get('json') === true;
  const { settings, open } = name === 'native' ? nativeRun(flags, io) : otherRun(name, flags);
  if (flags.get('dry_run') === true) {
    printSettings(settings, io, json);
    return EXIT_DONE;
  }
  registerDemoTasks();
  const abort = new AbortController();
  const stopSignals = io.onSignal((signal) => {
    if (abort.signal.aborted) io.exit(SIGNAL_EXIT[signal]);
    abort.abort(signal);
  });
  try {
    const runner = await open({ signal: abort.signal, onResult: (result) => printResult(result, io, json) });
    await runner.run();
    return EXIT_DONE;
  } finally {
    stopSignals();
  }
}

function flagsOf(name: RunnerName): Flags {
  const flags = new Flags();
  for (const [flag, help] of Object.entries(SWITCHES)) flags.define(flag, { kind: 'bool', default: false, help });
  if (name === 'native') return defineProcessFlags(flags);
  extractFlags(name === 'gpu' ? GpuRunnerSettings : TpuRunnerSettings, { flags });
  return flags;
}

/** What a runner was told, and the runner once it is wanted. */
interface Run {
  readonly settings: Parameters<typeof printSettings>[0];
  open(options: RunnerOptions): Promise<BaseRunner>;
}

function nativeRun(flags: Flags, io: CliIo): Run {
  const sources = { flags, env: io.env };
  const config = new RunnerConfig({}, sources);
  const resolved = resolveConfig(config, sources);
  return {
    settings: Object.fromEntries(settingsOf(resolved)),
    open: async (options) => {
      const runner = new NativeRunner(await taskOf(config.task), resolved, options);
      await prepareRunner(config, { modelDir: runner.modelDir, env: { ...io.env } });
      return runner;
    },
  };
}

function otherRun(name: 'gpu' | 'tpu', flags: Flags): Run {
  const settings = name === 'gpu' ? new GpuRunnerSettings() : new TpuRunnerSettings();
  update(settings, flags);
  return {
    settings: settingsOfRecord(settings),
    open: async (options) => {
      const task = await taskOf(settings.task);
      overrideParams(task.params, settings.paramsOverride);
      if (settings instanceof TpuRunnerSettings) return new TpuRunner(task, settings, options);
      return new GpuRunner(task, settings, options);
    },
  };
}

function settingsOfRecord(record: ConfigRecord): Run['settings'] {
  const names = Object.keys(fieldsOf(record));
  const shown = (name: string) => ({ value: propertiesOf(record)[name], origin: originOf(record, name) });
  return Object.fromEntries(names.map((name) => [name, shown(name)]));
}

/** A task by its name; the path of a module stands for the one that its default export makes. */
async function taskOf(named: string | null): Promise<RunnerTask> {
  const name = named ?? DEFAULT_TASK;
  const path = resolve(name);
  if (!/\.[cm]?[jt]s$/.test(name) || !existsSync(path)) return createTask(name);
  const { default: make } = (await import(pathToFileURL(path).href)) as {
    readonly default?: () => RunnerTask | ModelGiven;
  };
  if (typeof make === 'function') {
    const made = make();
    return 'createEstimator' in made ? made : runnerTaskOf(made);
  }
  const reason = 'its default export is no function that makes a task';
  throw new MonolithError('ML_NOT_FOUND', { what: `a task in ${name}`, reason });
}

function printResult(result: RunnerResult, io: CliIo, json: boolean): void {
  if (json) {
    io.out.write(jsonLine({ ...result }));
    return;
  }
  const { event, step, loss } = result;
  const metrics = event === 'evaluated' ? Object.entries(result.metrics) : [];
  const shown = [['loss', loss] as const, ...metrics].map(([name, value]) => ` ${name} ${value?.toFixed(4) ?? '-'}`);
  io.out.write(`${event} step ${step}${shown.join('')}\n`);
}
