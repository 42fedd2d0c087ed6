import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Event, SUMMARY } from '../../src/io/event-messages.js';
import { EventFileWriter } from '../../src/summary/event-file-writer.js';
import { histogramOf } from '../../src/summary/histogram.js';
import { createSummaryMetadata } from '../../src/summary/summary-metadata.js';
import { scalarValue } from '../../src/summary/summary-values.js';
import { FakeClock } from '../support/fake-clock.js';
import { readEvents } from '../support/read-events.js';

const golden = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/oracle/events.json', import.meta.url), 'utf8'),
) as Record<'histogram' | 'zeros' | 'scalar' | 'file', string>;
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

t.test('summaries have the bytes TensorFlow gives them', async (t) => {
  const values = Float32Array.of(0, -1.5, 2.25, 1e-13, 3e20, 0.1, 0.1, 1e-12, -1e-12, 5, 7.5, 1);
  t.equal(hex(SUMMARY.encode({ value: [{ tag: 'h', histo: histogramOf(values) }] })), golden.histogram);
  t.equal(hex(SUMMARY.encode({ value: [{ tag: 'z', histo: histogramOf(new Float32Array(3)) }] })), golden.zeros);
  t.equal(hex(SUMMARY.encode({ value: [scalarValue('loss', 0.25)] })), golden.scalar);
});

t.test('an event file has the bytes TensorFlow gives it', async (t) => {
  const clock = new FakeClock(1763452800_000);
  const dir = t.testdir({});
  const writer = await EventFileWriter.open(join(dir, 'run'), { clock, host: 'host' });
  clock.advance(1000);
  await writer.addRestart(8);
  clock.advance(-500);
  await writer.addSummary([scalarValue('loss', 0.25)], 7);
  await writer.close();
  await writer.close();
  t.equal(writer.path, join(dir, 'run', 'events.out.tfevents.1763452800.host'));
  t.equal(hex(readFileSync(writer.path)), golden.file);
  await t.rejects(writer.addRestart(9), { code: 'ML_CLOSED' });
});

t.test('events reach the file ten at a time, after two minutes, and on close', async (t) => {
  const clock = new FakeClock(0);
  const dir = t.testdir({});
  const writer = await EventFileWriter.open(dir, { clock });
  const count = () => readEvents(writer.path).length;
  t.equal(count(), 1, 'the version is there at once');
  for (let step = 1; step <= 9; step++) await writer.addSummary([scalarValue('x', step)], step);
  t.equal(count(), 1);
  await writer.addSummary([scalarValue('x', 10)], 10);
  t.equal(count(), 11);
  clock.advance(120_000);
  await writer.addSummary([scalarValue('x', 11)], 11);
  t.equal(count(), 12);
  await writer.addSummary([], 12);
  await writer.addCheckpoint('model.ckpt-12', 12);
  await writer.close();
  t.match(readEvents(writer.path).at(-1), { step: 12n, sessionLog: { status: 3, checkpointPath: 'model.ckpt-12' } });
});

t.test('metadata stands with the first value of a tag in a file, and two writers have a file each', async (t) => {
  const dir = t.testdir({});
  const clock = new FakeClock(1000);
  const value = { tag: 'w', tensor: { dtype: 1 }, metadata: createSummaryMetadata('gating', '{}') };
  const writers = [await EventFileWriter.open(dir, { clock }), await EventFileWriter.open(dir, { clock })];
  for (const writer of writers) {
    for (const step of [0, 1]) await writer.addSummary([value as never], step);
    await writer.close();
    const events = readEvents(writer.path).slice(1) as Event[];
    t.same(
      events.map(({ summary }) => summary!.value[0]!.metadata !== undefined),
      [true, false],
    );
  }
  t.equal(readdirSync(dir).length, 2);
});

t.test('what cannot be written names the file', async (t) => {
  const dir = t.testdir({ file: '' });
  await t.rejects(EventFileWriter.open(join(dir, 'file', 'x')), {
    code: 'ML_OUTPUT',
    fields: { file: join(dir, 'file', 'x') },
  });
});
