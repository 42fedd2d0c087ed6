/** @file Cases of hooks: windows of the day in which a job trains. */
import { Graph, type Op } from '../../../src/graph/graph.js';
import { globalStep, increment } from '../../../src/graph/ops/state.js';
import { TideStoppingHook, type TideWindow, tideAvailableNow } from '../../../src/train/hooks/tide.js';
import { MonitoredSession } from '../../../src/train/monitored-session.js';
import { addSiguser1Handler } from '../../../src/train/signal-utils.js';
import { openSession } from '../../runtime/with-session.js';
import { FakeClock } from '../../support/fake-clock.js';
import { fieldsOf, NotApplicable, type ParityCase, type ParityHandlers, UnknownForm } from '../case.js';

function windowOf(start: unknown, end: unknown): TideWindow {
  const [[startHour, startMinute], [endHour, endMinute]] = [start, end].map((time) =>
    String(time).split(':').map(Number),
  ) as [[number, number], [number, number]];
  return { startHour, startMinute, endHour, endMinute };
}

/** Whether a run asks for a stop, and whether the window is open. */
async function tide({ input }: ParityCase): Promise<unknown> {
  const { now, start, end } = fieldsOf(input, ['now', 'start', 'end']);
  if (Array.isArray(now)) {
    throw new NotApplicable(
      'a window past midnight is closed from its end to its start; upstream holds it open all day',
    );
  }
  const window = windowOf(start, end);
  const clock = new FakeClock(Date.parse(String(now)));
  const graph = new Graph();
  const step = increment(globalStep(graph)) as Op;
  const monitored = await MonitoredSession.create({
    graph,
    hooks: [new TideStoppingHook(window, clock)],
    createSession: () => openSession(graph, { threads: 1 }),
  });
  try {
    await monitored.run([step]);
    return { requested_stop: monitored.shouldStop, tide_available: tideAvailableNow(window, clock) };
  } finally {
    await monitored.close();
  }
}

/** Handlers of this process, with one before them; the signal is the one that Node.js leaves to it. */
async function signals({ input }: ParityCase): Promise<unknown> {
  const { installs, signal } = fieldsOf(input, ['installs', 'signal']);
  if (signal !== 'SIGUSR1') throw new UnknownForm('signal');
  const texts: string[] = [];
  let previous = false;
  const before = process.listeners('SIGUSR2');
  process.on('SIGUSR2', () => {
    previous = true;
  });
  const write = (text: string) => void texts.push(text);
  for (let i = 0; i < Number(installs); i++) addSiguser1Handler({ write, sampleMs: 1 });
  process.kill(process.pid, 'SIGUSR2');
  while (texts.length < Number(installs)) await new Promise((resolve) => setTimeout(resolve, 5));
  for (const listener of process.listeners('SIGUSR2')) if (!before.includes(listener)) process.off('SIGUSR2', listener);
  return { error: null, stack_printed: texts.every((text) => /^ +at /m.test(text)), previous_handler_called: previous };
}

export const handlers: ParityHandlers = { session_run_hooks: tide, signal_utils: signals };
