import { join } from 'node:path';
import t from 'tap';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { runProgram } from '../../src/cli/program.js';
import { ScanProgress, scanLine } from '../../src/cli/scan-progress.js';
import { makeTable, quick } from '../checkpoint/helpers.js';
import { FakeIo } from './fake-io.js';

const MIB = 2 ** 20;

t.test('a line tells share, bytes, rate and time left', async (t) => {
  t.equal(
    scanLine(25 * MIB, 100 * MIB, 5),
    ' 25%  [======>                 ]  25.0 MiB of 100.0 MiB  5.0 MiB/s  ETA 15s',
  );
  t.equal(scanLine(0, 0, 0), '100%  [========================]  0 B of 0 B  0 B/s  ETA -');
});

t.test('a bar comes after half a second, at intervals, within the width, and goes', async (t) => {
  const io = new FakeIo({ tty: true, columns: 30 });
  const progress = new ScanProgress(io, 100);
  const at = (ms: number) => {
    io.timeMs = ms;
    progress.update(ms / 20);
    return io.err.take();
  };
  t.equal(at(0), '');
  t.equal(at(499), '');
  t.equal(at(500), '\r\x1b[K 25%  [======>               ');
  t.equal(at(550), '');
  t.ok(at(600).startsWith('\r\x1b[K 30% '));
  progress.close();
  progress.close();
  t.equal(io.err.take(), '\r\x1b[K');
  t.equal(io.out.text, '');
});

t.test('no terminal, no bar', async (t) => {
  for (const io of [new FakeIo(), new FakeIo({ tty: true, env: { TERM: 'dumb' } })]) {
    const progress = new ScanProgress(io, 100);
    io.timeMs = 10_000;
    progress.update(50);
    progress.close();
    t.equal(io.err.text, '');
  }
});

t.test('a signal takes the bar away and ends the process', async (t) => {
  const dir = join(t.testdir(), 'm');
  const row = { id: 0n, weights: Float32Array.of(1), state: new Float32Array(0), lastUpdateSec: 0 };
  const rows = Array.from({ length: 20_000 }, (_, i) => ({ ...row, id: BigInt(i) }));
  const table = makeTable('t', [{ dim: 1, optimizer: 'sgd' }], rows);
  await saveCheckpoint(dir, { step: 1, modelName: 'm', dense: [], tables: [table] }, quick());
  const io = new FakeIo({ tty: true });
  let now = 0;
  io.nowMs = () => {
    now += 1000;
    return now;
  };
  const write = io.err.write.bind(io.err);
  io.err.write = (text) => {
    write(text);
    if (text.includes('%') && io.exits.length === 0) io.signal('SIGINT');
  };
  await runProgram(['inspect', dir], io);
  t.same(io.exits, [130]);
  t.equal(io.signalListeners.size, 0, 'nobody listens any more');
  t.ok(io.err.text.includes('%') && io.err.text.endsWith('\r\x1b[K'), 'the bar is gone');
});
