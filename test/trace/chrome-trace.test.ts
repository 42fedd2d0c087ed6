import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createSharedMemory } from '../../src/memory/shared-memory.js';
import { Views } from '../../src/memory/views.js';
import { writeChromeTrace } from '../../src/trace/chrome-trace.js';
import { checkTraceTarget } from '../../src/trace/trace-file.js';
import { TraceNames } from '../../src/trace/trace-names.js';
import { TraceRing } from '../../src/trace/trace-ring.js';
import { missing } from '../requirement.js';

interface ChromeEvent {
  ph: string;
  pid: number;
  tid: number;
  ts: number;
  dur: number;
  name: string;
  cat?: string;
  s?: string;
  id?: number;
  args?: Record<string, unknown>;
}

const views = new Views(createSharedMemory(1 << 20).buffer);
let top = 4096;

function ring(thread: number, capacity = 16): TraceRing {
  const ptr = top;
  top += TraceRing.bytesFor(capacity);
  const made = TraceRing.create(views, ptr, { capacity, thread });
  // Hand-made times: the origin of the thread is of no interest.
  views.f64[(ptr + 16) / 8] = thread * 100;
  return made;
}

function load(file: string): {
  displayTimeUnit: string;
  traceEvents: ChromeEvent[];
  otherData: Record<string, unknown>;
} {
  return JSON.parse(readFileSync(file, 'utf8'));
}

t.test('a trace has what a viewer needs: rows with names and order, spans, counters and instants', async (t) => {
  const names = new TraceNames();
  const step = names.id('step', 'phase');
  const lookup = names.id('lookup "table/0"\n', 'op');
  const loss = names.id('loss');
  const saved = names.id('saved', 'io');
  const [main, worker] = [ring(0), ring(1)];
  main.instant(saved, 4_000_000_000, 109);
  main.counter(loss, 0.5, 110);
  // Written at its end, after the span inside it: in the file the outer one comes first.
  worker.span(lookup, 5, 7);
  worker.span(step, 5, 9.5);
  const file = join(t.testdir(), 'trace.json');
  const report = await writeChromeTrace(file, {
    threads: [
      { name: 'main', ring: main },
      { name: 'worker 0', ring: worker },
    ],
    names,
    metadata: { model: 'ffm' },
  });

  t.same(report, { events: 4, lost: [0, 0] });
  const trace = load(file);
  t.equal(trace.displayTimeUnit, 'ms');
  t.same(trace.otherData, {
    model: 'ffm',
    producer: 'monolith-ts',
    threads: [
      { tid: 1, name: 'main', written: 2, lost: 0 },
      { tid: 2, name: 'worker 0', written: 2, lost: 0 },
    ],
  });
  t.same(trace.traceEvents, [
    { ph: 'M', pid: 1, tid: 1, name: 'process_name', args: { name: 'monolith-ts' } },
    { ph: 'M', pid: 1, tid: 1, name: 'thread_name', args: { name: 'main' } },
    { ph: 'M', pid: 1, tid: 1, name: 'thread_sort_index', args: { sort_index: 0 } },
    { ph: 'i', s: 't', pid: 1, tid: 1, ts: 4000, name: 'saved', cat: 'io', args: { value: 4_000_000_000 } },
    { ph: 'C', pid: 1, tid: 1, ts: 5000, name: 'loss', args: { value: 0.5 } },
    { ph: 'M', pid: 1, tid: 2, name: 'thread_name', args: { name: 'worker 0' } },
    { ph: 'M', pid: 1, tid: 2, name: 'thread_sort_index', args: { sort_index: 1 } },
    { ph: 'X', pid: 1, tid: 2, ts: 0, dur: 4500, name: 'step', cat: 'phase' },
    { ph: 'X', pid: 1, tid: 2, ts: 0, dur: 2000, name: 'lookup "table/0"\n', cat: 'op' },
  ]);
});

t.test('begins and ends become spans, and halves of a pair do no harm', async (t) => {
  const names = new TraceNames();
  const [outer, inner, odd, open] = ['outer', 'inner', 'odd', 'open'].map((name) => names.id(name));
  const one = ring(0);
  one.end(odd!, 0, 1);
  one.begin(outer!, 0, 2);
  one.begin(inner!, 0, 3);
  one.end(outer!, 0, 4);
  one.begin(open!, 0, 5);
  one.span(odd!, 5, 8);
  const file = join(t.testdir(), 'trace.json');
  const report = await writeChromeTrace(file, { threads: [{ name: 'one', ring: one }], names });
  t.same(report.lost, [1], 'the end without a begin');
  t.same(
    load(file)
      .traceEvents.filter(({ ph }) => ph === 'X')
      .map(({ name, ts, dur, args }) => [name, ts, dur, args?.unfinished]),
    [
      ['outer', 1000, 2000, undefined],
      ['inner', 2000, 1000, undefined],
      ['open', 4000, 3000, true],
      ['odd', 4000, 3000, undefined],
    ],
  );
});

t.test('odd events still make valid JSON', async (t) => {
  const names = new TraceNames();
  const loss = names.id('loss');
  const [one, two] = [ring(0), ring(1)];
  one.counter(loss, Number.NaN, 101);
  one.counter(loss, Number.POSITIVE_INFINITY, 102);
  one.counter(loss, 1, Number.NaN);
  one.counter(loss, 2, 104);
  one.span(999, 105, 104);
  one.span(0, 106, Number.POSITIVE_INFINITY);
  two.counter(loss, 3, 1);
  const file = join(t.testdir(), 'trace.json');
  const threads = [one, two].map((made, index) => ({ name: `t${index}`, ring: made }));
  const report = await writeChromeTrace(file, { threads, names });
  t.same(report.lost, [1, 0], 'the time that is no number');
  t.same(
    load(file)
      .traceEvents.filter(({ ph }) => ph !== 'M')
      .map(({ ph, name, ts, dur, id }) => [ph, name, ts, dur ?? null, id ?? null]),
    [
      ['i', 'loss is NaN', 0, null, null],
      ['i', 'loss is Infinity', 1000, null, null],
      ['C', 'loss', 3000, null, 1],
      ['X', '(name 999)', 4000, 0, null],
      ['X', '(unnamed)', 5000, 0, null],
      ['C', 'loss', 0, null, 2],
    ],
  );
});

t.test('a trace larger than one buffer, of rings that overflowed, says what it lost', async (t) => {
  const names = new TraceNames();
  const op = names.id('op');
  const one = ring(0, 4096);
  for (let i = 1; i <= 5000; i++) one.span(op, i, i + 0.5);
  const file = join(t.testdir(), 'trace.json');
  const report = await writeChromeTrace(file, { threads: [{ name: 'one', ring: one }], names });
  t.same(report, { events: 4096, lost: [904] });
  t.equal(load(file).traceEvents.filter(({ ph }) => ph === 'X').length, 4096);
  t.match(load(file).otherData.threads, [{ written: 5000, lost: 904 }]);
});

t.test('an empty trace is a trace', async (t) => {
  const file = join(t.testdir(), 'trace.json');
  t.same(await writeChromeTrace(file, { threads: [], names: new TraceNames() }), { events: 0, lost: [] });
  t.equal(load(file).traceEvents.length, 1);
});

t.test('a target that cannot be written is named before and after the run, and nothing is left behind', async (t) => {
  const dir = t.testdir({ folder: {}, plain: 'text' });
  const input = { threads: [], names: new TraceNames() };
  const targets: [string, RegExp, RegExp][] = [
    ['', /name is empty/, /^$/],
    [join(dir, 'folder'), /it is a folder/, /name a file/],
    [join(dir, 'none', 'trace.json'), /ENOENT/, /make the folder first/],
    [join(dir, 'plain', 'trace.json'), /ENOTDIR/, /inside a folder/],
    [join(dir, `${'x'.repeat(300)}.json`), /ENAMETOOLONG/, /shorter/],
    ['/dev/null', /not a plain file/, /another file/],
  ];
  for (const [file, reason, hint] of targets) {
    for (const attempt of [() => checkTraceTarget(file), () => writeChromeTrace(file, input)]) {
      const error = await attempt().catch((thrown) => thrown);
      t.equal(error.code, 'ML_TRACE_WRITE', file);
      t.match(error.message, reason);
      t.match(error.hint ?? '', hint);
    }
  }
  t.same(readdirSync(dir).sort(), ['folder', 'plain']);
});

t.test('a trace that fails halfway leaves the older one as it was', async (t) => {
  const dir = t.testdir({ 'trace.json': 'older' });
  const file = join(dir, 'trace.json');
  const one = ring(0);
  one.instant(1, 1, 1);
  // A value JSON cannot hold is met only when all events are on disk.
  const input = { threads: [{ name: 'one', ring: one }], names: new TraceNames(), metadata: { steps: 5n } };
  await t.rejects(writeChromeTrace(file, input), { code: 'ML_TRACE_WRITE', message: /BigInt/ });
  t.equal(readFileSync(file, 'utf8'), 'older');
  t.same(readdirSync(dir), ['trace.json']);
});

t.test('the check leaves an existing trace alone, and a link is followed', async (t) => {
  const dir = t.testdir({ 'real.json': 'older' });
  symlinkSync(join(dir, 'real.json'), join(dir, 'link.json'));
  await checkTraceTarget(join(dir, 'link.json'));
  await checkTraceTarget(join(dir, 'new.json'));
  t.same(readdirSync(dir).sort(), ['link.json', 'real.json']);
  t.equal(readFileSync(join(dir, 'real.json'), 'utf8'), 'older');
  await writeChromeTrace(join(dir, 'link.json'), { threads: [], names: new TraceNames() });
  t.ok(load(join(dir, 'real.json')).traceEvents, 'the file behind the link was replaced');
});

t.test(
  'a file or folder without permission is refused',
  { skip: process.getuid?.() === 0 && missing('unprivileged', 'root may write everywhere') },
  async (t) => {
    const dir = t.testdir({ 'old.json': 'older' });
    writeFileSync(join(dir, 'locked.json'), 'older', { mode: 0o400 });
    await t.rejects(checkTraceTarget(join(dir, 'locked.json')), { code: 'ML_TRACE_WRITE', message: /EACCES/ });
  },
);
