/** @file The stages of a program as text. */
import type { Op, Tensor } from '../../src/graph/graph.js';
import { CONTEXT, STAGE_SLICES, STAGE_WORDS } from '../../src/memory/control-layout.js';
import type { Session } from '../../src/runtime/session.js';

/** Kinds of the stages that `fetches` are compiled to: s for slices, t for threads. */
export function stagesOf(session: Session, fetches: readonly (Tensor | Op)[]): string {
  const { contexts } = session.prepare(fetches);
  const { u32 } = session.views;
  const [begin, end] = [u32[contexts / 4 + CONTEXT.stages]! / 4, u32[contexts / 4 + CONTEXT.stagesEnd]! / 4];
  let kinds = '';
  for (let at = begin; at < end; at += STAGE_WORDS) kinds += u32[at] === STAGE_SLICES ? 's' : 't';
  return kinds;
}
