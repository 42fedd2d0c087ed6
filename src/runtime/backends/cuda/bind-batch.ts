/** @file bindBatch of assembly/program.ts for a program of one slice: points the feed registers at a batch. */
import { BATCH_ROWS } from '../../../memory/batch.js';
import {
  BINDING_BATCH_ROWS,
  BINDING_DENSE,
  BINDING_FIXED,
  BINDING_WORDS,
  BINDINGS_HEADER_WORDS,
  CONTEXT,
  STATUS_BATCH_ROWS,
  STATUS_BATCH_VALUES,
} from '../../../memory/control-layout.js';
import type { Views } from '../../../memory/views.js';

/** 0, or a STATUS_*. */
export function bindBatch({ u32, i32, f32 }: Views, context: number, batch: number): number {
  const word = context / 4;
  const at = u32[word + CONTEXT.bindings]! / 4;
  const registers = u32[word + CONTEXT.sliceRegisters]! / 4;
  const header = batch / 4;
  const rows = u32[header + BATCH_ROWS]!;
  if (rows > u32[at + 3]!) {
    u32[word + CONTEXT.failedAt] = rows;
    return STATUS_BATCH_ROWS;
  }
  u32[registers + u32[at + 1]!] = rows;
  f32[registers + u32[at + 2]!] = rows === 0 ? 0 : 1 / rows;
  const end = at + BINDINGS_HEADER_WORDS + u32[at]! * BINDING_WORDS;
  for (let entry = at + BINDINGS_HEADER_WORDS; entry < end; entry += BINDING_WORDS) {
    const kind = u32[entry]!;
    const first = registers + u32[entry + 2]!;
    if (kind === BINDING_FIXED || kind === BINDING_BATCH_ROWS) {
      u32[first] = kind === BINDING_FIXED ? u32[entry + 1]! : rows;
      continue;
    }
    const pointer = u32[header + u32[entry + 1]!]!;
    if (kind === BINDING_DENSE) u32[first] = pointer + u32[entry + 6]!;
    else {
      const values = i32[pointer / 4 + rows]! - i32[pointer / 4]!;
      if (values > u32[entry + 5]!) {
        u32[word + CONTEXT.failedAt] = u32[entry + 7]!;
        u32[word + CONTEXT.failedDetail] = values;
        return STATUS_BATCH_VALUES;
      }
      u32[first] = pointer;
      u32[registers + u32[entry + 3]!] = u32[header + u32[entry + 1]! + 1]! + i32[pointer / 4]! * 8;
      u32[registers + u32[entry + 4]!] = values;
    }
  }
  return 0;
}
