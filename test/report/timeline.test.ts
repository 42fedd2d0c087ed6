import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { packTimeline } from '../../src/report/pack-timeline.js';
import { timelinePage } from '../../src/report/timeline-page.js';
import { runHere } from '../cli/run-here.js';
import { madeTrace } from './made-trace.js';

t.test('spans are packed by thread and by what they lie in', async (t) => {
  const { header, columns } = packTimeline(madeTrace(10));
  const bytes = new Uint8Array(Buffer.from(columns, 'base64'));
  const [starts, durations] = [new Float64Array(bytes.buffer, 0, 100), new Float64Array(bytes.buffer, 800, 100)];
  t.match(header, { wallUs: 1000, spans: 100, samples: 10 });
  t.same(
    header.rows.map(({ name, lost, lanes }) => [name, lost, ...lanes.map(({ count }) => count)]),
    [
      ['pool 0', 0, 20, 30],
      ['pool 1', 1, 20, 30],
    ],
    'phases and waits above, kernels inside of phases',
  );
  for (const { lanes } of header.rows) {
    for (const { first, count } of lanes) {
      for (let span = first + 1; span < first + count; span++) {
        if (starts[span]! < starts[span - 1]! + durations[span - 1]!) t.fail('spans of a lane overlap');
      }
    }
  }
  const names = new Uint32Array(bytes.buffer, 1600 + 160, 100);
  t.equal(header.names[names[0]!]!.name, 'forward and backward');
  t.same(header.counters, [{ name: 'batches ready', first: 0, count: 10, least: 0, most: 6 }]);
  t.match(packTimeline({ rows: [], counters: [], startUs: 0, endUs: 0 }).header, { spans: 0, rows: [], counters: [] });
});

t.test('names of a trace are text in its page', async (t) => {
  const trace = madeTrace(1);
  const name = '</script><img src=x onerror="alert(1)">';
  trace.rows[0]!.spans.push({ name, category: 'kernel', startUs: 60, durationUs: 1 });
  const page = timelinePage(trace, name);
  t.notMatch(page, /<img/);
  t.match(page, /&lt;img src=x/);
});

t.test('monolith trace --html writes the page, and says where', async (t) => {
  const events = [
    { ph: 'M', pid: 1, tid: 1, name: 'thread_name', args: { name: 'pool 0' } },
    { ph: 'X', pid: 1, tid: 1, ts: 0, dur: 5, name: 'gemmF32', cat: 'kernel' },
  ];
  const cwd = t.testdir({ 'run.json': JSON.stringify({ traceEvents: events }) });
  const plain = await runHere(['trace', 'run.json', '--html'], { cwd });
  t.equal(plain.out, 'timeline  run.html\n', plain.err);
  t.match(readFileSync(join(cwd, 'run.html'), 'utf8'), /<td class="">pool 0<\/td><td class="num">100\.0 %<\/td>/);
  const named = await runHere(['trace', 'run.json', '--html', '--out', 'a.html', '--json'], { cwd });
  t.same(JSON.parse(named.out), { event: 'timeline', trace: 'run.json', file: 'a.html' });
  const wrong = await runHere(['trace', 'run.json', '--out', 'a.html'], { cwd });
  t.match(wrong, { code: 2, err: /ML_FLAG: --out: .*\nhint: add --html/ });
  t.match(await runHere(['trace', 'none.json', '--html'], { cwd }), { code: 1, err: /ML_TRACE_READ/ });
});
