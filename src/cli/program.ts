/** @file The commands of `monolith`, their help, and the way from a command line to an exit code. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { z } from 'zod';
import { MonolithError } from '../base/errors.js';
import { suggest } from '../base/suggest.js';
import { copyFlags, listFlags, pruneFlags, verifyFlags } from './checkpoint-options.js';
import { addFlags, flagMeta, parseFlags, switchFlag, wholeNumber } from './flags.js';
import { inspectFlags } from './inspect-options.js';
import type { CliIo } from './io.js';
import { planFlags } from './plan-options.js';
import { EXIT_DONE, EXIT_MISUSED, reportError } from './report.js';
import { type LoadTrainJob, runTrainCommand } from './train-command.js';
import { parseTrainFlags, trainFlags } from './train-options.js';

const outputFlags = {
  json: switchFlag().register(flagMeta, { help: 'print JSON' }),
  verbose: switchFlag().register(flagMeta, { help: 'show causes and stacks of errors' }),
};
const doctorFlags = z.object(outputFlags);
const traceFlags = z.object({
  top: wholeNumber(1, 1000).optional().register(flagMeta, { value: 'count', help: 'rows to show per table' }),
  ...outputFlags,
});

const EXIT_CODES = `
Exit codes: 0 done (also when stopped early by the first Ctrl-C), 1 failed, 2 misused, 130 stopped at once.`;

const ROOT_HELP = `
Examples:
  monolith train                          train the demo model on all cores
  monolith train --help                   all flags of training
  monolith plan --rows 10m --dims 16      what a table of 10 million ids will take
  monolith inspect runs/ffm               what a checkpoint holds
  monolith checkpoint list runs/ffm       the checkpoints of a model directory
  monolith trace runs/trace.json          where the time of a traced run went
  monolith doctor                         check this machine
${EXIT_CODES}`;

const TRAIN_HELP = `
Examples:
  monolith train --steps 500
  monolith train --model-dir runs/ffm --save-every 1000
  monolith train --threads 4 --batch-size 512 --trace runs/trace.json
  monolith train --json --quiet
  monolith train --backend cuda --cuda-driver sim --steps 200
  monolith train --data reference --backend reference --threads 1 --deterministic
${EXIT_CODES}
The first Ctrl-C saves (with --model-dir) and stops; the same command goes on from there.`;

const INSPECT_HELP = `
Examples:
  monolith inspect runs/ffm                          the newest checkpoint of a model directory
  monolith inspect runs/ffm/model.ckpt-2000 --quick  names and sizes only
  monolith inspect runs/ffm --id 281474976710657     the row of one id
  monolith inspect runs/ffm --slots --top 20
  monolith inspect tables/MonolithHashTable_a-00000-of-00004 --json

Reads every row once, checks its checksum, and changes nothing. Files of other writers work too.`;

const CHECKPOINT_HELP = `
Examples:
  monolith checkpoint list runs/ffm
  monolith checkpoint verify runs/ffm                          every checkpoint, every byte
  monolith checkpoint copy runs/ffm/model.ckpt-2000 runs/next  it is the latest of runs/next then
  monolith checkpoint prune runs/ffm --keep 2                  what would be deleted; --yes deletes it

list and verify only read. verify exits with 1 when a checkpoint is damaged.`;

const DOCTOR_HELP = `
Examples:
  monolith doctor
  monolith doctor --json

Exits with 1 only when training cannot work on this machine. A GPU is never required.`;

const TRACE_HELP = `
Examples:
  monolith train --trace runs/trace.json
  monolith trace runs/trace.json --top 10
  monolith trace runs/trace.json --json

The file opens in https://ui.perfetto.dev and chrome://tracing too.`;

const PLAN_HELP = `
Examples:
  monolith plan --rows 10m --dims 16,1 --optimizer adagrad,ftrl
  monolith plan --rows 1.5b --dims 32 --shards 8
  monolith plan --rows 50m --dims 16 --optimizer adam --budget 8g --json

Sizes are those of ids without a pattern; a few percent either way. Exits with 1 when the table does not fit --budget.`;

export interface ProgramParts {
  readonly loadTrainJob?: LoadTrainJob;
}

/** The version in package.json. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}

/** Runs the command line `args` (without node and script) and returns the exit code. Never throws. */
export async function runProgram(args: readonly string[], io: CliIo, parts: ProgramParts = {}): Promise<number> {
  let exitCode = EXIT_DONE;
  try {
    const program = createProgram(io, parts, (code) => {
      exitCode = code;
    });
    if (args.length === 0) {
      io.err.write(`${program.helpInformation()}${ROOT_HELP}\n`);
      return EXIT_MISUSED;
    }
    refuseUnknownHelp(args, program);
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return EXIT_DONE;
    const error = thrown instanceof CommanderError ? toFlagError(thrown, args, io) : thrown;
    return reportError(error, io, { json: args.includes('--json'), verbose: args.includes('--verbose') });
  }
}

function createProgram(io: CliIo, parts: ProgramParts, setExit: (code: number) => void): Command {
  const program = new Command('monolith')
    .description('Trains recommender models over huge sparse id spaces on every core of this machine.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureHelp({ minWidthToWrap: 20 })
    .configureOutput({
      writeOut: (text) => io.out.write(text),
      writeErr: (text) => io.err.write(text),
      outputError: () => {}, // reportError prints it
      getOutHelpWidth: () => (io.out.isTTY ? io.out.columns() : 100),
      getErrHelpWidth: () => (io.err.isTTY ? io.err.columns() : 100),
    })
    .addHelpText('after', ROOT_HELP);

  addFlags(program.command('train').description('Train a model.'), trainFlags)
    .addHelpText('after', TRAIN_HELP)
    .action(async (raw: unknown) => setExit(await runTrainCommand(parseTrainFlags(raw), io, parts.loadTrainJob)));

  addFlags(program.command('plan').description('Tell what a table will take, before there is one.'), planFlags)
    .addHelpText('after', PLAN_HELP)
    .action(async (raw: unknown) => {
      const flags = parseFlags(planFlags, raw, 'plan');
      const { runPlanCommand } = await import('./plan-command.js');
      setExit(runPlanCommand(flags, io));
    });

  addFlags(program.command('inspect').description('Show what a checkpoint holds.'), inspectFlags)
    .argument('<checkpoint>', 'model directory, checkpoint like DIR/model.ckpt-100, table, or file of a table')
    .addHelpText('after', INSPECT_HELP)
    .action(async (path: string, raw: unknown) => {
      const flags = parseFlags(inspectFlags, raw, 'inspect');
      const { runInspectCommand } = await import('./inspect-command.js');
      setExit(await runInspectCommand(path, flags, io));
    });

  addCheckpointCommands(program, io, setExit);

  addFlags(program.command('doctor').description('Check that training works on this machine.'), doctorFlags)
    .addHelpText('after', DOCTOR_HELP)
    .action(async (raw: unknown) => {
      const flags = parseFlags(doctorFlags, raw, 'doctor');
      const { runDoctorCommand } = await import('./doctor.js');
      setExit(await runDoctorCommand(flags, io));
    });

  addFlags(program.command('trace').description('Sum up the trace of a run.'), traceFlags)
    .argument('<file>', 'file written by monolith train --trace')
    .addHelpText('after', TRACE_HELP)
    .action(async (file: string, raw: unknown) => {
      const { json, top } = parseFlags(traceFlags, raw, 'trace');
      const { runTraceCommand } = await import('./trace-command.js');
      const options = top === undefined ? { json } : { json, top };
      await runTraceCommand(file, options, (line) => io.out.write(`${line}\n`));
    });
  return program;
}

function addCheckpointCommands(program: Command, io: CliIo, setExit: (code: number) => void): void {
  const checkpoint = program
    .command('checkpoint')
    .description('List, verify, copy and delete checkpoints.')
    .addHelpText('after', CHECKPOINT_HELP)
    .action((_flags: unknown, command: Command) => {
      const names = command.commands.map((one) => one.name()).join(', ');
      throw new MonolithError(
        'ML_FLAG',
        { flag: 'checkpoint', reason: 'needs a command' },
        { hint: `one of ${names}` },
      );
    });
  const load = () => import('./checkpoint-command.js');
  addFlags(checkpoint.command('list').description('List the checkpoints of a model directory.'), listFlags)
    .argument('<dir>', 'model directory')
    .action(async (dir: string, raw: unknown) => {
      setExit((await load()).runListCommand(dir, parseFlags(listFlags, raw, 'checkpoint list'), io));
    });
  addFlags(
    checkpoint.command('verify').description('Read a checkpoint, or all of a directory, and check every byte.'),
    verifyFlags,
  )
    .argument('<path>', 'model directory, or checkpoint like DIR/model.ckpt-100')
    .action(async (path: string, raw: unknown) => {
      setExit(await (await load()).runVerifyCommand(path, parseFlags(verifyFlags, raw, 'checkpoint verify'), io));
    });
  addFlags(checkpoint.command('copy').description('Copy a checkpoint into another model directory.'), copyFlags)
    .argument('<checkpoint>', 'checkpoint like DIR/model.ckpt-100, or model directory for its latest')
    .argument('<dir>', 'model directory to copy to, made when needed')
    .action(async (path: string, dir: string, raw: unknown) => {
      setExit(await (await load()).runCopyCommand(path, dir, parseFlags(copyFlags, raw, 'checkpoint copy'), io));
    });
  addFlags(checkpoint.command('prune').description('Delete old checkpoints of a model directory.'), pruneFlags)
    .argument('<dir>', 'model directory')
    .action(async (dir: string, raw: unknown) => {
      setExit(await (await load()).runPruneCommand(dir, parseFlags(pruneFlags, raw, 'checkpoint prune'), io));
    });
}

/** Commander's complaint as ML_FLAG, with the word the user may have meant. */
function toFlagError(error: CommanderError, args: readonly string[], io: CliIo): MonolithError {
  const program = createProgram(io, {}, () => {});
  const { command, words, rest } = commandOf(program, args);
  const help = `see monolith ${[...words, '--help'].join(' ')}`;
  const word = /'([^']*)'/.exec(error.message)?.[1] ?? '';
  if (error.code === 'commander.excessArguments' && command !== undefined && command.commands.length > 0) {
    return unknownCommand(rest, command);
  }
  switch (error.code) {
    case 'commander.unknownOption':
      return unknownFlag(word, program, command, help);
    case 'commander.unknownCommand':
      return unknownCommand(word, program);
    case 'commander.optionMissingArgument': {
      const [flag, value] = word.split(' ');
      return new MonolithError('ML_FLAG', { flag, reason: `needs a value ${value}` }, { hint: help, cause: error });
    }
    default: {
      const reason = error.message.replace(/^error: /, '').replace(/\.$/, '');
      return new MonolithError(
        'ML_FLAG',
        { flag: words.join(' ') || 'monolith', reason },
        { hint: help, cause: error },
      );
    }
  }
}

/** The command that `args` name, a command of a command included, with its words, and the word after them. */
function commandOf(program: Command, args: readonly string[]) {
  const words = args.filter((arg) => !arg.startsWith('-'));
  let command: Command | undefined;
  let depth = 0;
  for (; depth < words.length; depth++) {
    const next: Command | undefined = (command ?? program).commands.find((one) => one.name() === words[depth]);
    if (next === undefined) break;
    command = next;
  }
  return { command, words: words.slice(0, depth), rest: words[depth] ?? '' };
}

/** Commander answers `help` for a command that does not exist with the general help; a slip deserves to be told. */
function refuseUnknownHelp([first, name]: readonly string[], program: Command): void {
  const known = name === undefined || program.commands.some((command) => command.name() === name);
  if (first === 'help' && !known && !name.startsWith('-')) throw unknownCommand(name, program);
}

function unknownCommand(word: string, program: Command): MonolithError {
  const names = program.commands.map((command) => command.name());
  const near = suggest(word, names);
  const hint = near === undefined ? `the commands are ${names.join(', ')}` : `did you mean ${near}?`;
  return new MonolithError('ML_FLAG', { flag: word, reason: 'unknown command' }, { hint });
}

function unknownFlag(flag: string, program: Command, command: Command | undefined, help: string): MonolithError {
  const owners = program.commands.filter((candidate) => candidate.options.some((option) => option.long === flag));
  const owner = command !== undefined && owners.includes(command) ? command : owners[0];
  const known = (command ?? program).options.map((option) => option.long ?? '');
  const near = suggest(flag, [...known, '--help']);
  let hint = near === undefined ? help : `did you mean ${near}? ${help}`;
  if (owner !== undefined) {
    const right = `monolith ${owner.name()} ... ${flag}`;
    // Commander reads flags before the command's name as flags of monolith itself.
    const early = command === undefined || owner === command;
    hint = early ? `put it after the command: ${right}` : `it is a flag of another command: ${right}`;
  }
  return new MonolithError('ML_FLAG', { flag, reason: 'unknown flag' }, { hint });
}
