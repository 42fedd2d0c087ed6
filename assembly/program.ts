// Runs a compiled program: the list of kernel calls of one training step, over registers.
//
// src/memory/program-layout.ts draws instructions, stages and what else a program is made of. A register is 4 bytes: a
// pointer, a count or a float's bits. Register 0 is unused: as a result it means "none". Each slice of the batch has a
// register file of its own over its own buffers, so one list of instructions serves all threads. A checked instruction
// whose result is negative ends the step with that result.
// src/runtime/kernels/kernels.ts is the table of kernels, src/runtime/backends/reference/program.ts the plain twin.
import { WORD } from "./units";
import {
  BATCH, BINDING, BINDINGS, BINDING_BYTES, BINDING_KIND, CAPTURE, CAPTURES, CAPTURE_BYTES, COMMAND_CAPACITY, CONTEXT,
  INSTRUCTION, STAGE, STAGE_BYTES, STAGE_KIND, STATUS,
} from "./generated/layouts";
import { dispatch } from "./generated/dispatch";
import { barrier } from "./sync";
import { traceNow, traceOn, traceSpan } from "./trace";

/** Where the register of this number is. */
@inline
function registerAt(registers: usize, number: u32): usize {
  return registers + (<usize>number << 2);
}

/** `trace` is 0 when the kernels of this step are not recorded: reading the clock around each would cost too much. */
function runCode(context: usize, code: usize, end: usize, registers: usize, trace: usize): i32 {
  let pc = code;
  const traced = traceOn(trace);
  let start = traceNow(trace);
  while (pc < end) {
    const head = load<u32>(pc, INSTRUCTION.head);
    const result = dispatch(head & 0xfff, pc + INSTRUCTION.operands, registers);
    const to = load<u32>(pc, INSTRUCTION.result);
    if (to != 0) store<i32>(registerAt(registers, to), result);
    if ((head >> 20) != 0 && result < 0) {
      store<u32>(context, load<u32>(pc, INSTRUCTION.traceName), CONTEXT.failedAt);
      store<i32>(context, result, CONTEXT.failedDetail);
      return STATUS.kernel;
    }
    if (traced) {
      const stop = traceNow(trace);
      traceSpan(trace, load<u32>(pc, INSTRUCTION.traceName), start, stop);
      start = stop;
    }
    pc += INSTRUCTION.operands + (<usize>((head >> 12) & 0xff) << 2);
  }
  return 0;
}

/** Points the feed registers of one slice at its part of a batch. */
export function bindBatch(
  context: usize, registers: usize, batch: usize, bindings: usize, slice: u32, sliceCount: u32,
): i32 {
  const rows = load<u32>(batch, BATCH.rows);
  const begin = <u32>(<u64>rows * slice / sliceCount);
  const count = <u32>(<u64>rows * (slice + 1) / sliceCount) - begin;
  if (count > load<u32>(bindings, BINDINGS.sliceRows)) {
    store<u32>(context, rows, CONTEXT.failedAt);
    return STATUS.batchRows;
  }
  store<u32>(registerAt(registers, load<u32>(bindings, BINDINGS.rows)), count);
  store<f32>(registerAt(registers, load<u32>(bindings, BINDINGS.inverseBatch)), rows == 0 ? 0 : <f32>1 / <f32>rows);
  const entries = load<u32>(bindings, BINDINGS.count);
  let entry = bindings + BINDINGS.entries;
  for (let i: u32 = 0; i < entries; i++, entry += BINDING_BYTES) {
    const kind = load<u32>(entry, BINDING.kind);
    if (kind >= BINDING_KIND.fixed) {
      const value = kind == BINDING_KIND.fixed
        ? load<u32>(entry, BINDING.pointer) + begin * load<u32>(entry, BINDING.size)
        : rows;
      store<u32>(registerAt(registers, load<u32>(entry, BINDING.register)), value);
      continue;
    }
    const pointer = <usize>load<u32>(batch + (<usize>load<u32>(entry, BINDING.pointer) << 2));
    if (kind == BINDING_KIND.dense) {
      const data = <u32>pointer + begin * load<u32>(entry, BINDING.size) + load<u32>(entry, BINDING.offset);
      store<u32>(registerAt(registers, load<u32>(entry, BINDING.register)), data);
      continue;
    }
    const splits = pointer + (<usize>begin << 2);
    const values = <usize>load<u32>(batch + (<usize>load<u32>(entry, BINDING.pointer) << 2), WORD);
    const first = load<u32>(splits);
    const valueCount = load<u32>(splits + (<usize>count << 2)) - first;
    if (valueCount > load<u32>(entry, BINDING.size)) {
      store<u32>(context, load<u32>(entry, BINDING.name), CONTEXT.failedAt);
      store<u32>(context, valueCount, CONTEXT.failedDetail);
      return STATUS.batchValues;
    }
    store<u32>(registerAt(registers, load<u32>(entry, BINDING.register)), <u32>splits);
    store<u32>(registerAt(registers, load<u32>(entry, BINDING.values)), <u32>(values + (<usize>first << 3)));
    store<u32>(registerAt(registers, load<u32>(entry, BINDING.valueCount)), valueCount);
  }
  return 0;
}

/** Keeps scalars of this thread's slices where the next step does not overwrite them. */
function capture(context: usize, command: i32): void {
  const captures = <usize>load<u32>(context, CONTEXT.captures);
  if (captures == 0) return;
  const count = load<u32>(captures, CAPTURES.count);
  const slices = <usize>load<u32>(context, CONTEXT.sliceCount);
  const begin = <usize>load<u32>(context, CONTEXT.sliceBegin), end = <usize>load<u32>(context, CONTEXT.sliceEnd);
  const place = <usize>(command & (COMMAND_CAPACITY - 1)) * <usize>load<u32>(captures, CAPTURES.commandBytes);
  let to = <usize>load<u32>(captures, CAPTURES.to) + place;
  for (let i: u32 = 0; i < count; i++, to += slices << 2) {
    const pair = captures + <usize>i * CAPTURE_BYTES;
    const from = <usize>load<u32>(pair, CAPTURES.pairs + CAPTURE.address);
    const stride = <usize>load<u32>(pair, CAPTURES.pairs + CAPTURE.sliceBytes);
    for (let s = begin; s < end; s++) store<f32>(to + (s << 2), load<f32>(from + s * stride));
  }
}

function bindSlices(context: usize, batch: usize): i32 {
  const registers = <usize>load<u32>(context, CONTEXT.sliceRegisters);
  const stride = <usize>load<u32>(context, CONTEXT.sliceRegistersStride);
  const bindings = <usize>load<u32>(context, CONTEXT.bindings);
  const end = load<u32>(context, CONTEXT.sliceEnd);
  for (let s = load<u32>(context, CONTEXT.sliceBegin); s < end; s++) {
    const at = registers + <usize>s * stride;
    const status = bindBatch(context, at, batch, bindings, s, load<u32>(context, CONTEXT.sliceCount));
    if (status != 0) return status;
  }
  return 0;
}

function runStage(context: usize, stage: usize, kernels: usize): i32 {
  const code = <usize>load<u32>(stage, STAGE.code);
  const codeEnd = <usize>load<u32>(stage, STAGE.codeEnd);
  if (load<u32>(stage, STAGE.kind) != STAGE_KIND.slices) {
    return runCode(context, code, codeEnd, <usize>load<u32>(context, CONTEXT.threadRegisters), kernels);
  }
  const registers = <usize>load<u32>(context, CONTEXT.sliceRegisters);
  const stride = <usize>load<u32>(context, CONTEXT.sliceRegistersStride);
  const end = load<u32>(context, CONTEXT.sliceEnd);
  for (let s = load<u32>(context, CONTEXT.sliceBegin); s < end; s++) {
    const status = runCode(context, code, codeEnd, registers + <usize>s * stride, kernels);
    if (status != 0) return status;
  }
  return 0;
}

/**
 * One step of one thread: its part of every stage with a barrier between any two, and a barrier that publishes
 * `command`. A quiet step wakes nobody: more steps follow at once.
 */
export function runStep(context: usize, batch: usize, command: i32, quiet: bool): i32 {
  const control = <usize>load<u32>(context, CONTEXT.control);
  const threads = load<i32>(context, CONTEXT.threads);
  const trace = <usize>load<u32>(context, CONTEXT.trace);
  // The third command is among those recorded: short runs have one that is warm.
  const kernels = (<u32>(command ^ 3) & load<u32>(context, CONTEXT.traceKernels)) == 0 ? trace : 0;
  const waiting = load<u32>(context, CONTEXT.traceBarrier);
  const first = <usize>load<u32>(context, CONTEXT.stages);
  const end = <usize>load<u32>(context, CONTEXT.stagesEnd);
  // A moment ends one span and begins the next: the clock is read once for both.
  let from = traceNow(trace);
  if (batch != 0) {
    const status = bindSlices(context, batch);
    if (status != 0) return status;
  }
  for (let stage = first; stage < end; stage += STAGE_BYTES) {
    if (stage != first) {
      if (!barrier(control, threads, 0, true)) return STATUS.aborted;
      const open = traceNow(trace);
      traceSpan(trace, waiting, from, open);
      from = open;
    }
    const status = runStage(context, stage, kernels);
    if (status != 0) return status;
    const done = traceNow(trace);
    traceSpan(trace, load<u32>(stage, STAGE.traceName), from, done);
    from = done;
  }
  capture(context, command);
  const together = barrier(control, threads, command, quiet);
  traceSpan(trace, waiting, from, traceNow(trace));
  return together ? 0 : STATUS.aborted;
}
