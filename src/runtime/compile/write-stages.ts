/** @file Writes the code of a program to shared memory, stage after stage, and the list of its stages. */
import type { Tensor } from '../../graph/graph.js';
import { STAGE, STAGE_KIND, STAGE_WORDS } from '../../memory/program-layout.js';
import { wordsOf } from '../../memory/record-layout.js';
import type { CodeList, StepPart } from './code.js';
import type { CompileEnvironment } from './compile-environment.js';
import type { LoweringContext } from './lowering.js';

const PHASE_NAMES: Readonly<Record<Exclude<StepPart, 'step'>, string>> = {
  ids: 'ids',
  pull: 'pull rows',
  push: 'push gradients',
};

/** Writes the code of all stages, and the list of stages of each part of the step. */
export function writeStages(target: CompileEnvironment, context: LoweringContext, captured: readonly Tensor[]) {
  const { views, arena, traceNames } = target;
  const slices = context.slice.writeCode(views, arena, 'slice code');
  const threads = context.thread.writeCode(views, arena, 'thread code');
  const parts = new Set<StepPart>(['step', ...[...slices, ...threads].map(({ part }) => part)]);
  return [...parts].map((part) => {
    const own = ({ part: its }: CodeList) => its === part;
    const last = Math.max(0, ...threads.filter(own).map(({ stage }) => stage));
    const named = (usual: string) => (part === 'step' ? usual : PHASE_NAMES[part]);
    const stages = [
      ...slices.filter(own).map((list) => ({ ...list, kind: STAGE_KIND.slices, name: named('forward and backward') })),
      ...threads.filter(own).map((list) => ({
        ...list,
        kind: STAGE_KIND.threads,
        name: named(list.stage === last ? 'update' : 'sum over the batch'),
      })),
    ].sort((a, b) => a.stage - b.stage);
    // A number that the last stage makes is captured by another thread than made it: an empty stage brings a barrier.
    const made = captured.filter((tensor) => context.storage(tensor).kind === 'global' && tensor.op.inputs.length > 0);
    if (part === 'step' && made.length > 0 && stages.at(-1)?.kind === STAGE_KIND.threads) {
      stages.push({ part, kind: STAGE_KIND.slices, stage: last + 1, begin: 0, end: 0, name: 'capture' });
    }
    const words = stages.flatMap(({ kind, begin, end, name }) => {
      const traceName = traceNames.id(name, 'phase');
      return wordsOf(STAGE, STAGE_WORDS, { kind, code: begin, codeEnd: end, traceName });
    });
    const begin = arena.alloc(words.length * 4, 'stages');
    views.u32.set(words, begin / 4);
    return { part, begin, end: begin + words.length * 4 };
  });
}
