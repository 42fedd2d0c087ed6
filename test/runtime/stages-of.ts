/** @file What a program was compiled to: its stages as text, its kernels by name. */
import type { Op, Tensor } from '../../src/graph/graph.js';
import { CONTEXT, instructionWords, STAGE, STAGE_KIND, STAGE_WORDS } from '../../src/memory/program-layout.js';
import { compile } from '../../src/runtime/compile/compiler.js';
import { KERNEL_OF_OPCODE } from '../../src/runtime/kernels/kernels.js';
import type { Session } from '../../src/runtime/session/session.js';
import { coreOf } from '../../src/runtime/session/session-handle.js';

/** Kinds of the stages that `fetches` are compiled to: s for slices, t for threads. */
export function stagesOf(session: Session, fetches: readonly (Tensor | Op)[]): string {
  const core = coreOf(session);
  const contexts = compile(core, fetches).contexts('step', 0);
  const { u32 } = core.views;
  const [begin, end] = [u32[contexts / 4 + CONTEXT.stages]! / 4, u32[contexts / 4 + CONTEXT.stagesEnd]! / 4];
  let kinds = '';
  for (let at = begin; at < end; at += STAGE_WORDS) kinds += u32[at + STAGE.kind] === STAGE_KIND.slices ? 's' : 't';
  return kinds;
}

/** Names of the kernels that `fetches` are compiled to, in the order they run. */
export function kernelsOf(session: Session, fetches: readonly (Tensor | Op)[]): string[] {
  const core = coreOf(session);
  const contexts = compile(core, fetches).contexts('step', 0);
  const { u32 } = core.views;
  const [first, last] = [u32[contexts / 4 + CONTEXT.stages]! / 4, u32[contexts / 4 + CONTEXT.stagesEnd]! / 4];
  const names: string[] = [];
  for (let stage = first; stage < last; stage += STAGE_WORDS) {
    const end = u32[stage + STAGE.codeEnd]! / 4;
    for (let at = u32[stage + STAGE.code]! / 4; at < end; at += instructionWords(u32[at]!)) {
      names.push(KERNEL_OF_OPCODE.get(u32[at]! & 0xfff)!.name);
    }
  }
  return names;
}
