import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { eventLine, eventsOfText, readEvents } from '../../src/report/event-lines.js';
import { reportPage } from '../../src/report/report-page.js';
import { RunFolder } from '../../src/report/run-folder.js';
import { writeReport } from '../../src/report/write-report.js';
import { madeRun } from './made-run.js';

/** The page without styles and scripts. */
const visibleOf = (page: string) => page.replace(/<(style|script)\b.*?<\/\1>/gs, '');
const textOf = (page: string) =>
  visibleOf(page)
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

t.test('a report says in words and tables what the run came to', async (t) => {
  const text = textOf(reportPage(madeRun()));
  t.match(text, /deepfm learnt for 4 epochs, until it got no better; step 100 is the best\./);
  t.match(text, /AUC 0\.7941 on 1,000 rows that were held out and chose nothing; averages of ids alone have 0\.7783/);
  t.match(text, /nothing can have more than 0\.8500/);
  t.match(text, /calibration 1\.020/);
  t.match(text, /100 0\.8000 0\.5000 1,000 best/, 'evaluations, with the best marked');
  t.match(text, /price num number , as its logarithm 60 25\.0 % 0\.31 0 … 9\.5/, 'columns with their roles and drift');
  t.match(text, /Moving away: price\./);
  t.match(text, /GAUC 0\.7200 within each userId/);
  t.match(text, /userId 460 17 8\.8 KiB 12\.5 %/, 'tables, with the ids that were seen once');
  t.match(text, /pool 0 70\.0 % 20\.0 %/, 'time by thread');
  t.match(text, /monolith train --data userId\.csv --label click/);
  t.match(text, /a processor, 2 cores, 8\.0 GiB, linux 6/);
  t.match(text, /userId\.csv, 120\.6 KiB, of 2030-01-01T00:00:00\.000Z/, 'the data with size and time');
  t.match(text, /seed 7 flag --seed/);
});

t.test('a run that failed, and one that nobody saw the end of, have reports too', async (t) => {
  const failed = textOf(reportPage(madeRun({ end: 'failed' })));
  t.match(failed, /deepfm failed after step 400: ML_MEMORY\. The best so far is step 100: AUC 0\.8000/);
  t.match(failed, /ML_MEMORY no room for userId take --table-memory/);
  const cutOff = textOf(reportPage(madeRun({ end: 'cut off' })));
  t.match(cutOff, /under way/);
  t.match(cutOff, /deepfm was at step 400 when this was written/);
  t.match(textOf(reportPage(madeRun({ steps: 0, end: 'failed' }))), /deepfm failed: ML_MEMORY/);
  t.match(textOf(reportPage([])), /A run|a run/i, 'even where nothing is known');
});

const HOSTILE = [
  `</script><script>globalThis.hacked = 1</script>`,
  `<img src=x onerror="globalThis.hacked = 1">`,
  `" onmouseover="globalThis.hacked = 1`,
  `' autofocus onfocus='globalThis.hacked = 1`,
  '<!-- <script>',
  ']]>&lt;b&gt;\u2028\u0000\u001b[31m',
];

t.test('names and values of the data are text in the page, whatever they are', async (t) => {
  const tags = (page: string) => [...visibleOf(page).matchAll(/<\/?([a-z!-]+)/gi)].map(([, name]) => name!);
  const plain = tags(reportPage(madeRun()));
  for (const name of HOSTILE) {
    for (const end of ['done', 'failed'] as const) {
      const page = reportPage(madeRun({ name, end }));
      if (end === 'done') t.same(tags(page), plain, 'no element more');
      t.notMatch(visibleOf(page).replace(/"[^"]*"/g, ''), /<[^>]*\son\w+\s*=/, 'no handler');
      t.notMatch(page, /<script>globalThis\.hacked/);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that none is left is what is asked.
      t.notMatch(page, /[\u0000\u001b]/);
    }
  }
});

t.test('the page has the events in it, and lets no script run but its own', async (t) => {
  const events = madeRun({ name: HOSTILE[0]! });
  const dir = t.testdir({ 'report.html': reportPage(events) });
  t.same(readEvents(join(dir, 'report.html')), eventsOfText(events.map(eventLine).join(''), 'x'));
  const page = readFileSync(join(dir, 'report.html'), 'utf8');
  const [, policy] = /Content-Security-Policy" content="([^"]*)"/.exec(page) ?? [];
  t.match(policy, /^default-src &#39;none&#39;; .*script-src &#39;sha256-[^;]+&#39; &#39;sha256-[^;]+&#39;$/);
  t.notMatch(page.replace(/<!doctype.*?<body>/s, ''), /(?:src|href)=/, 'nothing is fetched');
  t.match(page, /The MIT License/, 'the licence of uPlot is kept');
  t.throws(() => readEvents(join(dir, 'none.html')), { code: 'ML_FILE_READ' });
  writeFileSync(join(dir, 'other.html'), '<p>');
  t.throws(() => readEvents(join(dir, 'other.html')), { code: 'ML_FILE_READ', message: /no events of a run/ });
});

t.test('a folder that is gone on with reads as one run, half a line of a killed one left out', async (t) => {
  const dir = t.testdir();
  const events = madeRun({ steps: 100 });
  const [first] = events;
  if (first?.event !== 'run') throw new Error('a run begins with its record');
  const write = (some: typeof events) => {
    const folder = new RunFolder(dir, first, (error) => t.fail(error.message));
    for (const { atMs: _, ...event } of some) folder.keep(event);
    folder.close();
  };
  write(events.slice(0, 60));
  appendFileSync(join(dir, 'events.jsonl'), '{"event":"progress","st');
  t.equal(readEvents(dir).length, 60, 'half a line at the end is nothing');
  write(events);
  t.equal(readEvents(dir).length, 60 + events.length);
  t.match(JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')), {
    version: '1.2.3',
    data: { files: [{ file: 'userId.csv', bytes: 123_456, modified: '2030-01-01T00:00:00.000Z' }] },
  });
  const file = writeReport(dir);
  t.equal(file, join(dir, 'report.html'));
  t.match(textOf(readFileSync(file, 'utf8')), /learnt for 1 epoch;|learnt for 1 epoch,/);
  t.throws(() => writeReport(dir, join(dir, 'nowhere', 'report.html')), { code: 'ML_OUTPUT' });
});

t.test('a long run makes a page of bounded size', async (t) => {
  const page = reportPage(madeRun({ steps: 60_000 }));
  t.ok(page.length < 1_000_000, `${page.length} characters`);
  t.ok(page.length < 200_000 + 2100 * 400);
});
