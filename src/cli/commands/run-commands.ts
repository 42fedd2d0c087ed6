/** @file Registers the commands that go on from the folder of a run: eval, predict, recommend, explain, compare. */
import { addFlags, parseFlags } from '../command-flags.js';
import { COMPARE_HELP, EVAL_HELP, EXPLAIN_HELP, PREDICT_HELP, RECOMMEND_HELP } from '../help-texts.js';
import type { AddCommands } from './command-parts.js';

const compareFlags = async () => (await import('../trained/run-options.js')).compareFlags;
const evalFlags = async () => (await import('../trained/run-options.js')).evalFlags;
const explainFlags = async () => (await import('../trained/run-options.js')).explainFlags;
const predictFlags = async () => (await import('../trained/run-options.js')).predictFlags;
const recommendFlags = async () => (await import('../trained/run-options.js')).recommendFlags;

const RUN = 'folder of a run of monolith train --data';

export const addRunCommands: AddCommands = (program, { io, setExit }) => {
  addFlags(program.command('eval').description('Judge a run by the rows it held out, or by others.'), evalFlags)
    .argument('<run>', RUN)
    .addHelpText('after', EVAL_HELP)
    .action(async (run: string, raw: unknown) => {
      const flags = await parseFlags(evalFlags, raw, 'eval');
      setExit(await (await import('../trained/eval-command.js')).runEvalCommand(run, flags, io));
    });
  addFlags(program.command('predict').description('Predict on raw rows, which stay as they are.'), predictFlags)
    .argument('<run>', RUN)
    .addHelpText('after', PREDICT_HELP)
    .action(async (run: string, raw: unknown) => {
      const flags = await parseFlags(predictFlags, raw, 'predict');
      setExit(await (await import('../trained/predict-command.js')).runPredictCommand(run, flags, io));
    });
  addFlags(program.command('recommend').description('Recommend the items that go best with somebody.'), recommendFlags)
    .argument('<run>', RUN)
    .addHelpText('after', RECOMMEND_HELP)
    .action(async (run: string, raw: Record<string, unknown>) => {
      // Commander says true of a flag that turns something off where it is not given.
      const { seen, ...given } = raw;
      const flags = await parseFlags(recommendFlags, seen === false ? raw : given, 'recommend');
      setExit(await (await import('../trained/recommend-command.js')).runRecommendCommand(run, flags, io));
    });
  addFlags(program.command('explain').description('Tell what a model owes to each column.'), explainFlags)
    .argument('<run>', RUN)
    .addHelpText('after', EXPLAIN_HELP)
    .action(async (run: string, raw: unknown) => {
      const flags = await parseFlags(explainFlags, raw, 'explain');
      setExit(await (await import('../trained/explain-command.js')).runExplainCommand(run, flags, io));
    });
  addFlags(program.command('compare').description('Set two runs beside each other.'), compareFlags)
    .argument('<run>', RUN)
    .argument('<other>', RUN)
    .addHelpText('after', COMPARE_HELP)
    .action(async (run: string, other: string, raw: unknown) => {
      const flags = await parseFlags(compareFlags, raw, 'compare');
      setExit(await (await import('../trained/compare-command.js')).runCompareCommand([run, other], flags, io));
    });
};
