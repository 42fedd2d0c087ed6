/** @file Steps in one piece, one right after the other. */
import type { Program } from '../compile/compiler.js';
import type { SessionCore } from './session-core.js';
import type { Beside } from './session-queues.js';
import { commandOf, type StepCommand, type StepRunner, stepsOf } from './step-runner.js';

/** Runs a step for each of `batches`; the numbers of their commands. */
export async function runWholeSteps(
  core: SessionCore,
  runner: StepRunner,
  program: Program,
  { batches, beside }: { readonly batches: readonly number[]; readonly beside: readonly Beside[] | undefined },
): Promise<number[]> {
  const isGroup = batches.length > 1 && core.followsStep;
  const foreseen = isGroup ? core.foreseeSteps(batches.length, program.steps!) : [];
  if (!isGroup) core.followGlobalStep();
  const { contexts, contextStride } = commandOf(program, 'step', 0, 0);
  const commands: StepCommand[] = [];
  for (let step = 0; step < batches.length; step++) {
    const command = { contexts, contextStride, batch: batches[step]!, foreseen: foreseen[step] ?? 0, isStep: true };
    if (beside === undefined) commands.push(command);
    else commands.push(...beside[step]!.before, command, ...beside[step]!.after);
  }
  return stepsOf(commands, await runner.run(commands));
}
