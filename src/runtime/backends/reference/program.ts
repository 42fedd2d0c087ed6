/**
 * @file Plain twin of assembly/program.ts and the barrier of assembly/sync.ts: runs the same program over the same
 * memory with the reference kernels. Slow, and what every other backend is held to.
 */

import { COMMAND_CAPACITY, CONTROL } from '../../../memory/control-layout.js';
import {
  BINDING_KIND,
  BINDING_WORDS,
  BINDINGS,
  CAPTURE,
  CAPTURE_WORDS,
  CAPTURES,
  CONTEXT,
  INSTRUCTION,
  instructionWords,
  STAGE_KIND,
  STAGE_WORDS,
  STATUS,
} from '../../../memory/program-layout.js';
import type { Views } from '../../../memory/views.js';
import { traceNow, traceSpan } from '../../../trace/trace-events.js';
import type { HostCall } from '../../kernels/host-call.js';
import { KERNEL_OF_OPCODE } from '../../kernels/kernels.js';
import { referenceKernels } from './kernels.js';

const SLEEP_SLICE_MS = 20;

/** The step function of a thread that runs the reference backend. */
export function referenceRunStep(
  m: Views,
  host: HostCall,
): (context: number, batch: number, command: number, quiet: number) => number {
  referenceKernels(m, host);
  return (context, batch, command, quiet) => runStep(m, context / 4, batch, command, quiet !== 0);
}

function runStep(m: Views, context: number, batch: number, command: number, quiet: boolean): number {
  const word = (name: keyof typeof CONTEXT) => m.u32[context + CONTEXT[name]]!;
  const trace = word('trace');
  const kernels = ((command ^ 3) & word('traceKernels')) === 0 ? trace : 0;
  const bound = batch === 0 ? 0 : bindSlices(m, context, batch);
  if (bound !== 0) return bound;
  const first = word('stages') / 4;
  for (let stage = first; stage < word('stagesEnd') / 4; stage += STAGE_WORDS) {
    if (stage !== first && !barrier(m, context, 0, true)) return STATUS.aborted;
    const start = traceNow(m, trace);
    const status = runStage(m, context, stage, kernels);
    if (status !== 0) return status;
    traceSpan(m, trace, m.u32[stage + 3]!, start, traceNow(m, trace));
  }
  capture(m, context, command);
  return barrier(m, context, command, quiet) ? 0 : STATUS.aborted;
}

function runStage(m: Views, context: number, stage: number, kernels: number): number {
  const word = (name: keyof typeof CONTEXT) => m.u32[context + CONTEXT[name]]!;
  const [kind, code, end] = [m.u32[stage]!, m.u32[stage + 1]!, m.u32[stage + 2]!];
  if (kind !== STAGE_KIND.slices) return runCode(m, context, code, end, word('threadRegisters') / 4, kernels);
  for (let slice = word('sliceBegin'); slice < word('sliceEnd'); slice++) {
    const registers = word('sliceRegisters') + slice * word('sliceRegistersStride');
    const status = runCode(m, context, code, end, registers / 4, kernels);
    if (status !== 0) return status;
  }
  return 0;
}

function bindSlices(m: Views, context: number, batch: number): number {
  const word = (name: keyof typeof CONTEXT) => m.u32[context + CONTEXT[name]]!;
  for (let slice = word('sliceBegin'); slice < word('sliceEnd'); slice++) {
    const registers = word('sliceRegisters') + slice * word('sliceRegistersStride');
    const status = bindBatch(m, context, registers / 4, batch / 4, word('bindings') / 4, slice);
    if (status !== 0) return status;
  }
  return 0;
}

function capture(m: Views, context: number, command: number): void {
  const captures = m.u32[context + CONTEXT.captures]! / 4;
  if (captures === 0) return;
  const count = m.u32[captures + CAPTURES.count]!;
  const [to, commandBytes] = [m.u32[captures + CAPTURES.to]!, m.u32[captures + CAPTURES.commandBytes]!];
  const slices = m.u32[context + CONTEXT.sliceCount]!;
  const place = (to + (command & (COMMAND_CAPACITY - 1)) * commandBytes) / 4;
  for (let i = 0; i < count; i++) {
    const pair = captures + CAPTURES.pairs + i * CAPTURE_WORDS;
    for (let s = m.u32[context + CONTEXT.sliceBegin]!; s < m.u32[context + CONTEXT.sliceEnd]!; s++) {
      m.f32[place + i * slices + s] =
        m.f32[(m.u32[pair + CAPTURE.address]! + s * m.u32[pair + CAPTURE.sliceBytes]!) / 4]!;
    }
  }
}

function runCode(m: Views, context: number, code: number, end: number, registers: number, trace: number): number {
  const kernels = referenceKernels(m);
  let start = traceNow(m, trace);
  for (let pc = code / 4; pc < end / 4; ) {
    const head = m.u32[pc]!;
    const kernel = KERNEL_OF_OPCODE.get(head & 0xfff);
    if (kernel === undefined) return STATUS.kernel;
    const words: Record<string, number> = {};
    for (let i = 0; i < kernel.words.length; i++) {
      const { name, kind } = kernel.words[i]!;
      const register = registers + m.u32[pc + INSTRUCTION.operands + i]!;
      words[name] = kind === 'float' ? m.f32[register]! : m.u32[register]!;
    }
    const result = kernels.get(kernel.name)!(words);
    const to = m.u32[pc + INSTRUCTION.result]!;
    if (to !== 0) m.i32[registers + to] = result;
    if (head >>> 20 !== 0 && result < 0) {
      m.u32[context + CONTEXT.failedAt] = m.u32[pc + INSTRUCTION.traceName]!;
      m.i32[context + CONTEXT.failedDetail] = result;
      return STATUS.kernel;
    }
    const stop = traceNow(m, trace);
    traceSpan(m, trace, m.u32[pc + INSTRUCTION.traceName]!, start, stop);
    start = stop;
    pc += instructionWords(head);
  }
  return 0;
}

function bindBatch(
  m: Views,
  context: number,
  registers: number,
  batch: number,
  bindings: number,
  slice: number,
): number {
  const slices = m.u32[context + CONTEXT.sliceCount]!;
  const rows = m.u32[batch]!;
  const begin = Math.floor((rows * slice) / slices);
  const count = Math.floor((rows * (slice + 1)) / slices) - begin;
  if (count > m.u32[bindings + BINDINGS.sliceRows]!) {
    m.u32[context + CONTEXT.failedAt] = rows;
    return STATUS.batchRows;
  }
  m.u32[registers + m.u32[bindings + BINDINGS.rows]!] = count;
  m.f32[registers + m.u32[bindings + BINDINGS.inverseBatch]!] = rows === 0 ? 0 : 1 / rows;
  for (let i = 0; i < m.u32[bindings + BINDINGS.count]!; i++) {
    const entry = bindings + BINDINGS.entries + i * BINDING_WORDS;
    const [kind, word, first, second, third, size, offset, name] = [
      ...m.u32.subarray(entry, entry + BINDING_WORDS),
    ] as [number, number, number, number, number, number, number, number];
    if (kind === BINDING_KIND.fixed || kind === BINDING_KIND.batchRows) {
      m.u32[registers + first] = kind === BINDING_KIND.fixed ? word + begin * size : rows;
      continue;
    }
    const pointer = m.u32[batch + word]!;
    if (kind === BINDING_KIND.dense) {
      m.u32[registers + first] = pointer + begin * size + offset;
      continue;
    }
    const splits = pointer / 4 + begin;
    const values = m.i32[splits + count]! - m.i32[splits]!;
    if (values > size) {
      m.u32[context + CONTEXT.failedAt] = name;
      m.u32[context + CONTEXT.failedDetail] = values;
      return STATUS.batchValues;
    }
    m.u32[registers + first] = splits * 4;
    m.u32[registers + second] = m.u32[batch + word + 1]! + m.i32[splits]! * 8;
    m.u32[registers + third] = values;
  }
  return 0;
}

function barrier(m: Views, context: number, publish: number, quiet: boolean): boolean {
  const control = m.u32[context + CONTEXT.control]! / 4;
  const threads = m.u32[context + CONTEXT.threads]!;
  const trace = m.u32[context + CONTEXT.trace]!;
  const generation = Atomics.load(m.i32, control + CONTROL.generation);
  if (Atomics.add(m.i32, control + CONTROL.arrived, 1) === threads - 1) {
    Atomics.store(m.i32, control + CONTROL.arrived, 0);
    Atomics.add(m.i32, control + CONTROL.generation, 1);
    Atomics.notify(m.i32, control + CONTROL.generation);
    if (publish !== 0) {
      Atomics.store(m.i32, control + CONTROL.done, publish);
      if (!quiet) Atomics.notify(m.i32, control + CONTROL.done);
    }
    return Atomics.load(m.i32, control + CONTROL.abort) === 0;
  }
  const start = traceNow(m, trace);
  while (Atomics.load(m.i32, control + CONTROL.generation) === generation) {
    if (Atomics.load(m.i32, control + CONTROL.abort) !== 0) return false;
    Atomics.wait(m.i32, control + CONTROL.generation, generation, SLEEP_SLICE_MS);
  }
  traceSpan(m, trace, m.u32[context + CONTEXT.traceBarrier]!, start, traceNow(m, trace));
  return Atomics.load(m.i32, control + CONTROL.abort) === 0;
}
