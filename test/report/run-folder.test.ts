import {
  appendFileSync,
  existsSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { MonolithError } from '../../src/base/errors.js';
import type { RunEvent } from '../../src/recipe/run-event.js';
import { readEvents } from '../../src/report/event-lines.js';
import { RunFolder, recordOf } from '../../src/report/run-folder.js';
import { missing } from '../requirement.js';

const info = { command: ['monolith'], settings: {}, version: '1', module: null };
const event = (message: string): RunEvent => ({ event: 'note', message });
const messages = (dir: string) => readEvents(dir).map((one) => (one as { message?: string }).message);
const never = (error: MonolithError) => t.fail(error.message);

const full = existsSync('/dev/full') ? {} : { skip: missing('linux', 'this system has no /dev/full') };
t.test('events that a full disk does not take are told of once, and end nothing', full, async (t) => {
  const dir = t.testdir();
  symlinkSync('/dev/full', join(dir, 'events.jsonl'));
  const told: MonolithError[] = [];
  const folder = new RunFolder(dir, recordOf(info), (error) => told.push(error));
  for (const message of ['a', 'b']) {
    folder.keep(event(message));
    folder.flush();
  }
  folder.close();
  t.match(told, [{ code: 'ML_OUTPUT', message: /ENOSPC/, hint: /training goes on/ }]);
  t.equal(told.length, 1);
});

t.test('half a line of a process that was killed does not spoil what follows', async (t) => {
  const dir = t.testdir();
  for (const message of ['a', 'b']) {
    const folder = new RunFolder(dir, recordOf(info), never);
    folder.keep(event(message));
    folder.close();
    appendFileSync(join(dir, 'events.jsonl'), '{"event":"no');
  }
  const folder = new RunFolder(dir, recordOf(info), never);
  folder.keep(event('c'));
  folder.close();
  t.same(messages(dir), ['a', 'b', 'c']);
});

t.test('what is no file of lines is left as it is', async (t) => {
  const dir = t.testdir();
  const file = join(dir, 'events.jsonl');
  writeFileSync(file, 'x');
  const fd = openSync(file, 'r+');
  ftruncateSync(fd, 2 << 20);
  new RunFolder(dir, recordOf(info), never).close();
  t.equal(readFileSync(file).length, 2 << 20);
});

t.test('a file of the folder that cannot be replaced is as it was, and nothing is left beside it', async (t) => {
  const dir = t.testdir({ 'run.json': { inside: '' } });
  t.throws(() => new RunFolder(dir, recordOf(info), never), { code: 'ML_DIR' });
  t.same(readdirSync(dir), ['run.json']);
});
