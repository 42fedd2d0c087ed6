/**
 * @file The life of a pool thread: follow the command ring, run steps, leave when told or when somebody failed.
 *
 * Between commands the thread spins for some microseconds, as the next step is usually near, and then sleeps in slices,
 * so that an abort is noticed even if its wake-up is missed.
 */
import { toWireError } from '../../base/error-wire.js';
import {
  ABORT,
  COMMAND,
  COMMAND_CAPACITY,
  COMMAND_KIND,
  COMMAND_WORDS,
  CONTROL,
  FORESEEN,
  nextCommand,
} from '../../memory/control-layout.js';
import { CONTEXT, STATUS } from '../../memory/program-layout.js';
import { Views } from '../../memory/views.js';
import { TraceRing } from '../../trace/trace-ring.js';
import type { RunStep, ThreadSteps } from '../backends/backend.js';
import { instantiateKernels } from '../backends/wasm/instantiate-kernels.js';
import { attachBanks, type TableBank } from '../tables/table-banks.js';
import { loadBackend } from './load-backend.js';
import type { JoinMessage, JoinResult } from './protocol.js';

const SPINS = 6000;
const SLEEP_SLICE_MS = 100;

export async function joinSession(message: JoinMessage): Promise<JoinResult> {
  const views = new Views(message.memory.buffer);
  try {
    const banks = message.tables === null ? [] : attachBanks(message.tables);
    const steps = await stepsOf(views, message, banks);
    const memories = [views, ...banks.map((bank) => bank.views)].map(({ u32 }) => u32);
    const result = followCommands(views, message, steps, memories);
    if (result.kind === 'step-failed') abortSession(views, message.control);
    return result;
  } catch (thrown) {
    abortSession(views, message.control);
    return { kind: 'threw', error: toWireError(thrown) };
  }
}

/** Makes everybody leave: threads at the barrier or waiting for a command, and the main thread, whatever it awaits. */
export function abortSession(views: Views, control: number, reason: number = ABORT.failed): void {
  const at = control / 4;
  Atomics.compareExchange(views.i32, at + CONTROL.abort, 0, reason);
  for (const word of [CONTROL.command, CONTROL.generation, CONTROL.done, CONTROL.joined])
    Atomics.notify(views.i32, at + word);
}

async function stepsOf(
  views: Views,
  { backend, told, memory, module, thread }: JoinMessage,
  banks: readonly TableBank[],
) {
  const { join } = await loadBackend(backend);
  const pairInsertion = () => instantiateKernels(module, memory).insertTouchedPairs;
  return join({ thread, memory, views, module, banks, pairInsertion }, told);
}

function followCommands(
  views: Views,
  message: JoinMessage,
  steps: ThreadSteps,
  memories: readonly Uint32Array[],
): JoinResult {
  try {
    const result = runCommands(views, message, steps.run, memories);
    if (result.kind === 'stopped') steps.close?.();
    else steps.abandon?.();
    return result;
  } catch (thrown) {
    steps.abandon?.();
    throw thrown;
  }
}

function runCommands(
  views: Views,
  message: JoinMessage,
  runStep: RunStep,
  memories: readonly Uint32Array[],
): JoinResult {
  const { thread, control } = message;
  const { i32, u32 } = views;
  const at = control / 4;
  const ring = message.trace === 0 ? null : TraceRing.attach(views, message.trace);
  ring?.bindClock();
  let command = Atomics.load(i32, at + CONTROL.command);
  Atomics.add(i32, at + CONTROL.joined, 1);
  Atomics.notify(i32, at + CONTROL.joined);
  for (;;) {
    // In a group of steps the next command is there already, and there is no wait to record.
    if (Atomics.load(i32, at + CONTROL.command) === command) {
      const start = ring?.now() ?? 0;
      if (!waitForCommand(i32, at, command)) return { kind: 'aborted' };
      ring?.span(message.traceWait, start, ring.now());
    }
    command = nextCommand(command);
    const entry = at + CONTROL.commands + (command & (COMMAND_CAPACITY - 1)) * COMMAND_WORDS;
    if (u32[entry + COMMAND.kind] !== COMMAND_KIND.step) return { kind: 'stopped' };
    const context = u32[entry + COMMAND.contexts]! + thread * u32[entry + COMMAND.contextStride]!;
    const foreseen = u32[entry + COMMAND.foreseen]!;
    if (foreseen !== 0) writeForeseen(u32, foreseen / 4, memories);
    const status = runStep(context, u32[entry + COMMAND.batch]!, command, u32[entry + COMMAND.quiet]!);
    if (status === STATUS.aborted) return { kind: 'aborted' };
    if (status !== 0) {
      const failedAt = u32[context / 4 + CONTEXT.failedAt]!;
      return { kind: 'step-failed', status, failedAt, failedDetail: i32[context / 4 + CONTEXT.failedDetail]! };
    }
  }
}

/** Rates and what else follows the global step, in a group of steps: session/foreseen-words.ts draws the record. */
function writeForeseen(u32: Uint32Array, at: number, memories: readonly Uint32Array[]): void {
  const end = at + FORESEEN.entries + u32[at + FORESEEN.count]! * FORESEEN.entryWords;
  for (let entry = at + FORESEEN.entries; entry < end; entry += FORESEEN.entryWords) {
    memories[u32[entry + FORESEEN.memory]!]![u32[entry + FORESEEN.index]!] = u32[entry + FORESEEN.value]!;
  }
}

/** False when the session was aborted. */
function waitForCommand(i32: Int32Array, at: number, seen: number): boolean {
  for (let spin = 0; spin < SPINS; spin++) if (Atomics.load(i32, at + CONTROL.command) !== seen) return true;
  while (Atomics.load(i32, at + CONTROL.command) === seen) {
    if (Atomics.load(i32, at + CONTROL.abort) !== 0) return false;
    Atomics.wait(i32, at + CONTROL.command, seen, SLEEP_SLICE_MS);
  }
  return true;
}
