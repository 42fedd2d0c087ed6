import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runTraceCommand, type TraceCommandOptions } from '../../src/cli/trace-command.js';
import { createSharedMemory } from '../../src/memory/shared-memory.js';
import { Views } from '../../src/memory/views.js';
import { writeChromeTrace } from '../../src/trace/chrome-trace.js';
import { TraceNames } from '../../src/trace/trace-names.js';
import { TraceRing } from '../../src/trace/trace-ring.js';

async function lines(file: string, options: TraceCommandOptions): Promise<string[]> {
  const printed: string[] = [];
  await runTraceCommand(file, options, (line) => printed.push(line));
  return printed;
}

/** A trace as a run leaves it: three spans and a wait on one thread. */
async function makeTrace(file: string): Promise<void> {
  const views = new Views(createSharedMemory(65536).buffer);
  const names = new TraceNames();
  const ring = TraceRing.create(views, 4096, { capacity: 8, thread: 0 });
  ring.span(names.id('lookup'), 1, 2);
  ring.span(names.id('gemm'), 2, 4);
  ring.span(names.id('step', 'phase'), 1, 5);
  ring.span(names.id('barrier', 'wait'), 5, 6);
  await writeChromeTrace(file, { threads: [{ name: 'main', ring }], names });
}

t.test('the command prints tables, or one line of JSON with snake_case fields', async (t) => {
  const file = join(t.testdir(), 'trace.json');
  await makeTrace(file);
  const text = await lines(file, { color: false });
  t.equal(text[0], `trace ${file}`);
  t.match(text.join('\n'), /main +80\.0%/);
  t.match(text.join('\n'), /gemm +op +1 +2\.00/);
  t.ok(text.every((line) => !line.includes('\n')));

  const json = await lines(file, { json: true, top: 2 });
  t.equal(json.length, 1);
  const summary = JSON.parse(json[0]!);
  t.match(summary, {
    file,
    wall_ms: 5,
    lost: 0,
    threads: [{ name: 'main', busy_ms: 4, wait_ms: 1, utilisation: 0.8 }],
  });
  t.match(summary.ops, [{ name: 'gemm', total_ms: 2, self_ms: 2, mean_us: 2000 }, { count: 1 }]);
  t.equal(summary.ops.length, 2);
  t.match(summary.waits, [{ thread: 'main', name: 'barrier', start_ms: 4, ms: 1 }]);
});

t.test('a bad flag or file fails with its code and prints nothing', async (t) => {
  const file = join(t.testdir(), 'trace.json');
  writeFileSync(file, '{"traceEvents":[');
  const printed: string[] = [];
  const out = (line: string) => printed.push(line);
  await t.rejects(runTraceCommand(file, {}, out), { code: 'ML_TRACE_READ', message: /cut off/ });
  for (const top of [0, -1, 1.5, Number.NaN]) {
    await t.rejects(runTraceCommand(file, { top }, out), { code: 'ML_FLAG', message: /--top/ });
  }
  t.same(printed, []);
});
