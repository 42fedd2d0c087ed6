/** @file bindBatch of assembly/program.ts for a program of one slice: points the feed registers at a batch. */
import { BATCH } from '../../../memory/batch.js';
import { BINDING, BINDING_KIND, BINDING_WORDS, BINDINGS, CONTEXT, STATUS } from '../../../memory/program-layout.js';
import type { Views } from '../../../memory/views.js';

/** 0, or a STATUS_*. */
export function bindBatch({ u32, i32, f32 }: Views, context: number, batch: number): number {
  const word = context / 4;
  const at = u32[word + CONTEXT.bindings]! / 4;
  const registers = u32[word + CONTEXT.sliceRegisters]! / 4;
  const header = batch / 4;
  const rows = u32[header + BATCH.rows]!;
  if (rows > u32[at + BINDINGS.sliceRows]!) {
    u32[word + CONTEXT.failedAt] = rows;
    return STATUS.batchRows;
  }
  u32[registers + u32[at + BINDINGS.rows]!] = rows;
  f32[registers + u32[at + BINDINGS.inverseBatch]!] = rows === 0 ? 0 : 1 / rows;
  const end = at + BINDINGS.entries + u32[at + BINDINGS.count]! * BINDING_WORDS;
  for (let entry = at + BINDINGS.entries; entry < end; entry += BINDING_WORDS) {
    const kind = u32[entry + BINDING.kind]!;
    const first = registers + u32[entry + BINDING.register]!;
    if (kind === BINDING_KIND.fixed || kind === BINDING_KIND.batchRows) {
      u32[first] = kind === BINDING_KIND.fixed ? u32[entry + BINDING.pointer]! : rows;
      continue;
    }
    const pointer = u32[header + u32[entry + BINDING.pointer]!]!;
    if (kind === BINDING_KIND.dense) u32[first] = pointer + u32[entry + BINDING.offset]!;
    else {
      const values = i32[pointer / 4 + rows]! - i32[pointer / 4]!;
      if (values > u32[entry + BINDING.size]!) {
        u32[word + CONTEXT.failedAt] = u32[entry + BINDING.name]!;
        u32[word + CONTEXT.failedDetail] = values;
        return STATUS.batchValues;
      }
      u32[first] = pointer;
      u32[registers + u32[entry + BINDING.values]!] =
        u32[header + u32[entry + BINDING.pointer]! + 1]! + i32[pointer / 4]! * 8;
      u32[registers + u32[entry + BINDING.valueCount]!] = values;
    }
  }
  return 0;
}
