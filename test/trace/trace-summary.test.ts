import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { formatTraceSummary } from '../../src/trace/format-trace-summary.js';
import { summarizeTrace } from '../../src/trace/trace-summary.js';

const ESCAPE = '\x1b';

const span = (tid: number, cat: string, name: string, ts: number, dur: number) => ({
  ph: 'X',
  pid: 1,
  tid,
  cat,
  name,
  ts,
  dur,
});
const counter = (name: string, ts: number, value: number) => ({ ph: 'C', pid: 1, tid: 1, name, ts, args: { value } });
const label = (tid: number, name: string, args: object) => ({ ph: 'M', pid: 1, tid, name, args });

/** Two threads over 10 ms; worker 0 comes first by its sort index and has lost its first events. */
const TRACE = {
  traceEvents: [
    label(1, 'thread_name', { name: 'main' }),
    label(1, 'thread_sort_index', { sort_index: 1 }),
    label(2, 'thread_name', { name: 'worker 0' }),
    label(2, 'thread_sort_index', { sort_index: 0 }),
    span(1, 'phase', 'step', 1000, 4000),
    span(1, 'wait', 'wait for workers', 1500, 3000),
    span(1, 'phase', 'step', 5000, 4000),
    span(1, 'wait', 'wait for workers', 6000, 1000),
    span(1, 'io', 'save', 9000, 2000),
    span(2, 'op', 'gemm', 6000, 1000),
    span(2, 'phase', 'forward', 6000, 4000),
    span(2, 'op', 'gemm', 7500, 1500),
    span(2, 'wait', 'barrier', 10000, 500),
    counter('loss', 3000, 0.75),
    counter('loss', 2000, 1),
    counter('loss', 9000, 0.5),
    { ph: 'i', s: 't', pid: 1, tid: 1, name: 'saved', ts: 10900 },
    { ph: 's', id: 1, name: 'flow of another producer' },
  ],
  otherData: { producer: 'monolith-ts', threads: [{ tid: 2, name: 'worker 0', written: 70, lost: 6 }] },
};

function fileOf(t: Test, text: string): string {
  const file = join(t.testdir(), 'trace.json');
  writeFileSync(file, text);
  return file;
}

t.test('the numbers of a trace made by hand', async (t) => {
  const summary = await summarizeTrace(fileOf(t, JSON.stringify(TRACE)));
  t.equal(summary.wallMs, 10);
  t.equal(summary.lost, 6);
  t.same(summary.threads, [
    { name: 'worker 0', busyMs: 4, waitMs: 0.5, windowMs: 5, utilisation: 0.8, lost: 6 },
    { name: 'main', busyMs: 6, waitMs: 4, windowMs: 10, utilisation: 0.6, lost: 0 },
  ]);
  t.same(summary.ops, [
    { name: 'step', category: 'phase', count: 2, totalMs: 8, selfMs: 4, meanUs: 4000, maxUs: 4000, share: 0.4 },
    { name: 'gemm', category: 'op', count: 2, totalMs: 2.5, selfMs: 2.5, meanUs: 1250, maxUs: 1500, share: 0.25 },
    { name: 'save', category: 'io', count: 1, totalMs: 2, selfMs: 2, meanUs: 2000, maxUs: 2000, share: 0.2 },
    { name: 'forward', category: 'phase', count: 1, totalMs: 4, selfMs: 1.5, meanUs: 4000, maxUs: 4000, share: 0.15 },
  ]);
  t.same(summary.waits, [
    { thread: 'main', name: 'wait for workers', startMs: 0.5, ms: 3 },
    { thread: 'main', name: 'wait for workers', startMs: 5, ms: 1 },
    { thread: 'worker 0', name: 'barrier', startMs: 9, ms: 0.5 },
  ]);
  t.match(summary.waitTotals, [
    { name: 'wait for workers', count: 2, totalMs: 4 },
    { name: 'barrier', count: 1, totalMs: 0.5 },
  ]);
  t.same(summary.counters, [{ name: 'loss', count: 3, min: 0.5, mean: 0.75, max: 1, last: 0.5 }]);
});

t.test('the time of steps is split into kernels, waits and the rest', async (t) => {
  const traceEvents = [
    label(1, 'thread_name', { name: 'pool 0' }),
    // Before the first phase and after the last nothing counts.
    span(1, 'wait', 'wait for a command', 0, 1000),
    span(1, 'phase', 'forward', 1000, 600),
    // Rounded, a wait may begin before the phase it comes after has ended.
    span(1, 'wait', 'barrier', 1599.999, 100.001),
    span(1, 'phase', 'update', 1700, 200),
    span(1, 'wait', 'wait for a command', 1950, 50),
    span(1, 'phase', 'forward', 2000, 100),
    span(1, 'wait', 'barrier', 2100, 5000),
  ];
  const { steps } = await summarizeTrace(fileOf(t, JSON.stringify({ traceEvents })));
  const rounded = (value: number) => Math.round(value * 1000);
  t.equal(steps!.windowMs, 1.1);
  t.same([steps!.kernels, steps!.waits, steps!.javascript].map(rounded), [818, 136, 45]);
  t.same(
    steps!.waitsByName.map(({ name, share }) => [name, rounded(share)]),
    [
      ['barrier', 91],
      ['wait for a command', 45],
    ],
  );
  const none = await summarizeTrace(fileOf(t, JSON.stringify({ traceEvents: traceEvents.slice(0, 2) })));
  t.equal(none.steps, null);
});

t.test('kernels that some phases recorded stand for those of all phases', async (t) => {
  const traceEvents = [
    label(1, 'thread_name', { name: 'pool 0' }),
    span(1, 'phase', 'update', 0, 1000),
    span(1, 'kernel', 'apply', 100, 600),
    span(1, 'kernel', 'find', 700, 100),
    span(1, 'phase', 'update', 1000, 2000),
    span(1, 'phase', 'update', 3000, 1000),
  ];
  const { ops, threads } = await summarizeTrace(fileOf(t, JSON.stringify({ traceEvents })));
  t.same(
    ops.map(({ name, count, totalMs, selfMs, share }) => [name, count, totalMs, selfMs, share]),
    [
      ['apply', 4, 2.4, 2.4, 0.6],
      ['update', 3, 4, 1.2, 0.3],
      ['find', 4, 0.4, 0.4, 0.1],
    ],
  );
  t.equal(threads[0]?.busyMs, 4, 'what a thread did is not projected');
});

t.test('the tables are aligned and can be cut short', async (t) => {
  const summary = await summarizeTrace(fileOf(t, JSON.stringify(TRACE)));
  const lines = formatTraceSummary(summary, { top: 2 }).split('\n');
  t.same(lines, [
    'wall 10.00 ms, 2 threads',
    '6 events lost: the trace shows the end of the run, not all of it',
    'steps: kernels 66.7%, waits 33.3% (wait for workers 33.3%), JavaScript 0.0%',
    '',
    'threads',
    '  thread     used                        busy ms  wait ms  lost',
    '  worker 0  80.0%  ################....     4.00     0.50     6',
    '  main      60.0%  ############........     6.00     4.00     0',
    '',
    'time by op (2 of 4)',
    '  name  kind   count  total ms  self ms  share  mean us  max us',
    '  step  phase      2      8.00     4.00  40.0%   4000.0  4000.0',
    '  gemm  op         2      2.50     2.50  25.0%   1250.0  1500.0',
    '',
    'waits by name',
    '  name              kind  count  total ms  self ms  share  mean us  max us',
    '  wait for workers  wait      2      4.00     4.00  88.9%   2000.0  3000.0',
    '  barrier           wait      1      0.50     0.50  11.1%    500.0   500.0',
    '',
    'longest waits (2 of 3)',
    '  thread  name              at ms     ms',
    '  main    wait for workers   0.50  3.000',
    '  main    wait for workers   5.00  1.000',
    '',
    'counters',
    '  counter  samples  min  mean  max  last',
    '  loss           3  0.5  0.75    1   0.5',
  ]);
  const colored = formatTraceSummary(summary, { top: 2, color: true });
  t.not(colored, lines.join('\n'));
  t.same(colored.replaceAll(new RegExp(`${ESCAPE}\\[\\d+m`, 'g'), '').split('\n'), lines);
});

t.test('names from a file cannot reach the terminal raw or push the table apart', async (t) => {
  const events = [span(1, 'op', `\x1b[2J${'x'.repeat(60)}`, 0, 1)];
  const text = formatTraceSummary(await summarizeTrace(fileOf(t, JSON.stringify(events))));
  t.notMatch(text, '\x1b');
  t.ok(text.split('\n').every((line) => line.length < 120));
  t.match(text, `?[2J${'x'.repeat(35)}…`);
});

t.test('a trace without events is summed up as nothing', async (t) => {
  const summary = await summarizeTrace(fileOf(t, '{"traceEvents":[]}'));
  t.same(summary, { wallMs: 0, steps: null, ops: [], threads: [], waitTotals: [], waits: [], counters: [], lost: 0 });
  t.equal(formatTraceSummary(summary), 'wall 0.00 ms, 0 threads\nno spans were recorded');
});

t.test('a file that is no trace is refused with its name and what is wrong', async (t) => {
  const whole = JSON.stringify(TRACE, null, 1);
  const bad: [string, RegExp][] = [
    ['', /it is empty/],
    ['step,loss\n1,0.5\n', /it is not JSON/],
    ['{"traceEvents":[1,,2]}', /not valid JSON: Unexpected token/],
    ['{"steps": 5}', /not a trace: there is no "traceEvents" list/],
    ['"text"', /it is not JSON|not a trace/],
    ['{"traceEvents":{}}', /not a trace/],
    ['[{"ph":"M"},7]', /traceEvents\[1\] is not an event/],
    ['[{"ph":"X","name":"a","dur":1}]', /traceEvents\[0\] has no number "ts"/],
    ['[{"ph":"X","name":"a","ts":1}]', /traceEvents\[0\] has no number "dur"/],
    ['[{"ph":"X","name":"a","ts":1,"dur":-1}]', /negative "dur"/],
    ['[{"ph":"X","ts":1,"dur":1}]', /has no "name"/],
  ];
  for (const [text, reason] of bad) {
    const file = fileOf(t, text);
    await t.rejects(
      summarizeTrace(file),
      { code: 'ML_TRACE_READ', message: reason, fields: { file } },
      text.slice(0, 40),
    );
  }
  const cuts = Array.from({ length: 40 }, (_, index) => 1 + Math.floor(((whole.length - 2) * index) / 39));
  for (const cut of cuts) {
    const file = fileOf(t, whole.slice(0, cut));
    await t.rejects(summarizeTrace(file), { code: 'ML_TRACE_READ', message: /it is cut off/ }, `cut at ${cut}`);
  }
});

t.test('a file that cannot be opened is named', async (t) => {
  const dir = t.testdir();
  await t.rejects(summarizeTrace(join(dir, 'none.json')), { code: 'ML_TRACE_READ', message: /none\.json.*ENOENT/ });
  await t.rejects(summarizeTrace(dir), { code: 'ML_TRACE_READ', message: /EISDIR/ });
});
