/**
 * @file Captures: the numbers of a step that are kept for its command, such as the loss.
 *
 * Steps run in groups, and the next step overwrites what a tensor holds; a number that somebody fetches is copied at
 * the end of each step to a place of its command.
 */
import type { OpDef, Tensor } from '../../graph/graph.js';
import { Variable } from '../../graph/ops/state.js';
import { COMMAND_CAPACITY } from '../../memory/control-layout.js';
import { CAPTURES } from '../../memory/program-layout.js';
import { wordsOf } from '../../memory/record-layout.js';
import type { CompileEnvironment } from './compile-environment.js';
import type { LoweringContext } from './lowering.js';

/** A number per batch, such as the loss. */
export function isBatchScalar(tensor: Tensor): boolean {
  return tensor.spec.shape.length === 0 && tensor.op.def !== (Variable as OpDef<unknown>);
}

/** Writes down where the numbers are and where they go: for each, an address and the bytes from slice to slice. */
export function writeCaptures(target: CompileEnvironment, context: LoweringContext, tensors: readonly Tensor[]) {
  if (tensors.length === 0) return { at: 0, base: 0, commandBytes: 0 };
  const { arena, views, plan } = target;
  const commandBytes = Math.ceil((tensors.length * plan.slices * 4) / 64) * 64;
  const base = arena.alloc(commandBytes * COMMAND_CAPACITY, 'captured scalars');
  const pairs = tensors.flatMap((tensor) => {
    const storage = context.storage(tensor);
    if (storage.kind === 'slice' || storage.kind === 'feed' || storage.kind === 'whole') {
      throw new Error(`${tensor.name} is no scalar`);
    }
    if (storage.kind === 'copies') return [storage.base + context.threadOf(0) * storage.threadBytes, 0];
    return [storage.base, storage.kind === 'global' ? 0 : storage.sliceBytes];
  });
  const at = arena.alloc((CAPTURES.pairs + pairs.length) * 4, 'captures');
  const header = { count: tensors.length, to: base, commandBytes };
  views.u32.set([...wordsOf<keyof typeof header>(CAPTURES, CAPTURES.pairs, header), ...pairs], at / 4);
  return { at, base, commandBytes };
}
