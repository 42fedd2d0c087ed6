/**
 * @file Lays a program of a few kernel calls out in memory, as the compiler would, for tests that drive the pool
 * itself.
 */
import { CONTROL_BYTES } from '../../../src/memory/control-layout.js';
import { CONTEXT, CONTEXT_BYTES, STAGE_KIND } from '../../../src/memory/program-layout.js';
import { TABLE } from '../../../src/memory/table-layout.js';
import { Code } from '../../../src/runtime/compile/code.js';
import type { KernelHarness } from '../../kernels/harness.js';

export interface SmallProgram {
  readonly control: number;
  readonly contexts: number;
}

/** Slice code runs once per thread, thread code after the barrier. */
export function smallProgram(
  h: KernelHarness,
  threads: number,
  build: (slice: Code, thread: Code) => void,
): SmallProgram {
  const { views, arena } = h;
  const [slice, thread] = [new Code(), new Code()];
  build(slice, thread);
  const control = h.alloc(CONTROL_BYTES);
  const stages = [
    ...slice.writeCode(views, arena, 'slice code').map(({ begin, end }) => [STAGE_KIND.slices, begin, end, 0]),
    ...thread.writeCode(views, arena, 'thread code').map(({ begin, end }) => [STAGE_KIND.threads, begin, end, 0]),
  ].flat();
  const list = h.alloc(stages.length * 4);
  views.u32.set(stages, list / 4);
  const files = { count: threads, leases: 1, what: 'registers' };
  const sliceRegisters = slice.writeRegisters(views, arena, files);
  const threadRegisters = thread.writeRegisters(views, arena, files);
  const contexts = h.alloc(CONTEXT_BYTES * threads);
  for (let index = 0; index < threads; index++) {
    const words: Partial<Record<keyof typeof CONTEXT, number>> = {
      stages: list,
      stagesEnd: list + stages.length * 4,
      sliceRegisters: sliceRegisters.begin,
      sliceRegistersStride: sliceRegisters.stride,
      sliceBegin: index,
      sliceEnd: index + 1,
      sliceCount: threads,
      threadRegisters: threadRegisters.begin + index * threadRegisters.stride,
      control,
      threads,
    };
    for (const [name, value] of Object.entries(words)) {
      views.u32[(contexts + index * CONTEXT_BYTES) / 4 + CONTEXT[name as keyof typeof CONTEXT]] = value;
    }
  }
  return { control, contexts };
}

/** A table whose only bucket is full of other ids: a search for `id` in it never ends. Gives the table and the id. */
export function endlessTable(h: KernelHarness): { table: number; id: number; row: number } {
  const { views } = h;
  const [table, partition, bucket] = [h.alloc(64), h.alloc(64), h.alloc(64)];
  views.u32[table / 4 + TABLE.partitions] = partition;
  views.u32[partition / 4] = bucket;
  views.i64.set([1n, 2n, 3n, 4n], bucket / 8);
  views.u32.fill(bucket, bucket / 4 + 8, bucket / 4 + 12);
  return { table, id: h.putI64([77n]), row: h.alloc(4) };
}
