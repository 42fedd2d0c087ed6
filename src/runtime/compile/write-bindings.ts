/**
 * @file Bindings: which registers are pointed at a slice's part of the batch when a step starts.
 *
 * Nothing of a batch is copied: an entry says where the batch header has the address of a feed, how many bytes an
 * example takes, and which register gets the result.
 */
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import type { Tensor } from '../../graph/graph.js';
import { type BatchSchema, rowBytes } from '../../memory/batch.js';
import { BINDING, BINDING_KIND, BINDING_WORDS, BINDINGS } from '../../memory/program-layout.js';
import { wordsOf } from '../../memory/record-layout.js';
import type { CompileEnvironment, FeedUse } from './compile-environment.js';
import type { LoweringContext } from './lowering.js';
import { pointerWords } from './pointer-words.js';

/** ML_FEED of a placeholder, with the line that made it. */
function misfed({ op }: Tensor, reason: string, hint?: string): MonolithError {
  const fields = { name: op.name, reason, ...(op.place && { place: op.place }) };
  return new MonolithError('ML_FEED', fields, hint === undefined ? {} : { hint });
}

type Binding = Readonly<Record<Exclude<keyof typeof BINDING, 'kind'>, number>>;

function bindingOf(kind: keyof typeof BINDING_KIND, binding: Partial<Binding>): number[] {
  const none = { pointer: 0, register: 0, values: 0, valueCount: 0, size: 0, offset: 0, name: 0 };
  return wordsOf(BINDING, BINDING_WORDS, { ...none, ...binding, kind: BINDING_KIND[kind] });
}

/** Writes the bindings of a program, and gives their address. */
export function writeBindings(
  target: CompileEnvironment & { readonly feeds: BatchSchema },
  context: LoweringContext,
  feeds: readonly FeedUse[],
): number {
  const words = pointerWords(target.feeds);
  const entries: number[][] = [];
  for (const { tensor, registers, ragged } of feeds) {
    const { name } = tensor.op;
    const spec = target.feeds.find((feed) => feed.name === name);
    const place = words.get(name);
    if (spec === undefined || place === undefined) {
      const names = target.feeds.map((feed) => feed.name);
      throw misfed(tensor, 'the input has no feed of this name', didYouMean(name, names));
    }
    if (ragged !== undefined) {
      if (spec.kind !== 'ragged') throw misfed(tensor, `the input has it as ${spec.kind}, not ragged`);
      const { splits, values, count, capacity } = ragged;
      const pointer = { pointer: place.word, register: splits, name: place.index };
      entries.push(bindingOf('ragged', { ...pointer, values, valueCount: count, size: capacity }));
      continue;
    }
    const [kind, what] = tensor.spec.dtype === 'int64' ? (['ids', 'ids'] as const) : (['dense', 'floats'] as const);
    if (spec.kind !== kind || spec.width !== tensor.columns) {
      throw misfed(tensor, `the model wants ${tensor.columns} ${what} per example`);
    }
    for (const { register, offset } of registers) {
      const binding = { pointer: place.word, register, size: rowBytes(spec), offset, name: place.index };
      entries.push(bindingOf('dense', binding));
    }
  }
  for (const { register, base, rowBytes } of context.fixedRows) {
    entries.push(bindingOf('fixed', { pointer: base, register, size: rowBytes }));
  }
  for (const register of context.batchRowsRegisters) entries.push(bindingOf('batchRows', { register }));
  const { rows, inverseBatch } = context;
  const header = { count: entries.length, rows, inverseBatch, sliceRows: target.plan.sliceRows };
  const at = target.arena.alloc((BINDINGS.entries + BINDING_WORDS * entries.length) * 4, 'bindings');
  target.views.u32.set(
    [...wordsOf<keyof typeof header>(BINDINGS, BINDINGS.entries, header), ...entries.flat()],
    at / 4,
  );
  return at;
}
