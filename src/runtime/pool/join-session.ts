/**
 * @file The life of a pool thread: follow the command ring, run steps, leave when told or when somebody failed.
 *
 * Between commands the thread spins for some microseconds, as the next step is usually near, and then sleeps in slices, so
 * that an abort is noticed even if its wake-up is missed.
 */
import { type ErrorFields, MonolithError, messageOf } from '../../base/errors.js';
import {
  ABORT,
  ABORT_FAILED,
  COMMAND,
  COMMAND_CAPACITY,
  COMMAND_WORDS,
  COMMANDS,
  CONTEXT,
  DONE,
  GENERATION,
  JOINED,
  KIND_STEP,
  nextCommand,
  STATUS_ABORTED,
} from '../../memory/control-layout.js';
import { Views } from '../../memory/views.js';
import { TraceRing } from '../../trace/trace-ring.js';
import type { JoinMessage, JoinResult } from './protocol.js';
import { type RunStep, stepFunction } from './step-function.js';

const SPINS = 6000;
const SLEEP_SLICE_MS = 100;

export function joinSession(message: JoinMessage): JoinResult {
  const views = new Views(message.memory.buffer);
  try {
    const result = followCommands(views, message);
    if (result.kind === 'step-failed') abortSession(views, message.control);
    return result;
  } catch (thrown) {
    abortSession(views, message.control);
    const code = thrown instanceof MonolithError ? thrown.code : null;
    const stack = thrown instanceof Error ? (thrown.stack ?? '') : '';
    const { fields, hint = null } = thrown instanceof MonolithError ? thrown : { fields: {} };
    return { kind: 'threw', code, fields: cloneable(fields), hint, message: messageOf(thrown), stack };
  }
}

/** Makes everybody leave: threads at the barrier or waiting for a command, and the main thread, whatever it awaits. */
export function abortSession(views: Views, control: number, reason = ABORT_FAILED): void {
  const at = control / 4;
  Atomics.compareExchange(views.i32, at + ABORT, 0, reason);
  for (const word of [COMMAND, GENERATION, DONE, JOINED]) Atomics.notify(views.i32, at + word);
}

/** Fields as they can travel between threads. */
function cloneable(fields: ErrorFields): ErrorFields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plain(value)]));
}

function plain(value: unknown): unknown {
  return ['string', 'number', 'boolean', 'bigint'].includes(typeof value) ? value : String(value);
}

function followCommands(views: Views, message: JoinMessage): JoinResult {
  const step = stepFunction(views, message);
  try {
    const result = runCommands(views, message, step.run);
    if (result.kind === 'stopped') step.close();
    else step.abandon();
    return result;
  } catch (thrown) {
    step.abandon();
    throw thrown;
  }
}

function runCommands(views: Views, message: JoinMessage, runStep: RunStep): JoinResult {
  const { thread, control } = message;
  const { i32, u32 } = views;
  const at = control / 4;
  const ring = message.trace === 0 ? null : TraceRing.attach(views, message.trace);
  ring?.bindClock();
  let command = Atomics.load(i32, at + COMMAND);
  Atomics.add(i32, at + JOINED, 1);
  Atomics.notify(i32, at + JOINED);
  for (;;) {
    // In a group of steps the next command is there already, and there is no wait to record.
    if (Atomics.load(i32, at + COMMAND) === command) {
      const start = ring?.now() ?? 0;
      if (!waitForCommand(i32, at, command)) return { kind: 'aborted' };
      ring?.span(message.traceWait, start, ring.now());
    }
    command = nextCommand(command);
    const slot = at + COMMANDS + (command & (COMMAND_CAPACITY - 1)) * COMMAND_WORDS;
    if (u32[slot] !== KIND_STEP) return { kind: 'stopped' };
    const context = u32[slot + 1]! + thread * u32[slot + 2]!;
    const status = runStep(context, u32[slot + 3]!, command, u32[slot + 4]!);
    if (status === STATUS_ABORTED) return { kind: 'aborted' };
    if (status !== 0) {
      const failedAt = u32[context / 4 + CONTEXT.failedAt]!;
      return { kind: 'step-failed', status, failedAt, failedDetail: i32[context / 4 + CONTEXT.failedDetail]! };
    }
  }
}

/** False when the session was aborted. */
function waitForCommand(i32: Int32Array, at: number, seen: number): boolean {
  for (let spin = 0; spin < SPINS; spin++) if (Atomics.load(i32, at + COMMAND) !== seen) return true;
  while (Atomics.load(i32, at + COMMAND) === seen) {
    if (Atomics.load(i32, at + ABORT) !== 0) return false;
    Atomics.wait(i32, at + COMMAND, seen, SLEEP_SLICE_MS);
  }
  return true;
}
