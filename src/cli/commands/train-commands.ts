/** @file Registers `monolith train` and `monolith run`. */
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import { addFlags } from '../command-flags.js';
import { printSettings } from '../dry-run.js';
import { RUN_HELP, RUN_USAGE, TRAIN_HELP } from '../help-texts.js';
import type { CliIo } from '../io.js';
import { EXIT_DONE } from '../report.js';
import type { AddCommands } from './command-parts.js';

/** Flags of a table of data, and those that the built-in demo has as well. */
const tableFlags = async () => {
  const { dataFlag, tableFlags } = await import('../learn/learn-options.js');
  return { shape: { data: dataFlag, ...tableFlags } };
};
const sharedFlags = async () => {
  const { data: _data, ...shape } = (await import('../train-options.js')).trainFlags.shape;
  return { shape };
};

export const addTrainCommands: AddCommands = (program, { io, loadTrainJob, setExit }) => {
  const command = program.command('train').description('Train a model.').argument('[model.ts]', 'a model of your own');
  addFlags(command, tableFlags, 'Flags for a table of data:');
  addFlags(command, sharedFlags, 'Flags for training:')
    .addHelpText('after', TRAIN_HELP)
    .action(async (file: string | undefined, { report, ...given }: Record<string, unknown>) => {
      const raw = report === false ? { ...given, report } : given;
      const { resolveTrain } = await import('../resolve-train.js');
      const resolved = await resolveTrain(raw, io.env, file ?? null);
      if (resolved.kind === 'learn') {
        const { runLearnCommand } = await import('../learn/learn-command.js');
        setExit(await runLearnCommand(resolved.flags, resolved.settings, io));
        return;
      }
      if (resolved.flags.dryRun) {
        printSettings(resolved.settings, io, resolved.flags.json);
        return;
      }
      const { runTrainCommand } = await import('../train-command.js');
      setExit(await runTrainCommand(resolved.flags, io, loadTrainJob));
    });

  program
    .command('run')
    .description('Run a task as the training binaries of the reference do, with their flags.')
    .argument('<runner>', 'native, gpu or tpu')
    .argument('[flags...]', 'see monolith run native --help')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .addHelpText('after', RUN_HELP)
    .action(async (name: string, rest: readonly string[]) => setExit(await runNamed(name, rest, io)));
};

async function runNamed(name: string, args: readonly string[], io: CliIo): Promise<number> {
  const { RUNNERS, runRunner } = await import('../run-command.js');
  const runner = RUNNERS.find((one) => one === name);
  if (runner !== undefined) return runRunner(runner, args, io);
  if (name === '--help' || name === '-h') {
    io.out.write(`${RUN_USAGE}${RUN_HELP}\n`);
    return EXIT_DONE;
  }
  const hint = didYouMean(name, RUNNERS) ?? `the runners are ${RUNNERS.join(', ')}`;
  throw new MonolithError('ML_FLAG', { flag: `run ${name}`, reason: 'there is no such runner' }, { hint });
}
