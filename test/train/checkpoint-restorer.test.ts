import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { checkpointExists } from '../../src/checkpoint/model-dir.js';
import { writeMonolithState } from '../../src/checkpoint/monolith-state.js';
import {
  CheckpointRestorerHook,
  type CheckpointRestorerListener,
  PartialRecoverySaver,
} from '../../src/compat/index.js';
import { Graph, type Op } from '../../src/graph/graph.js';
import { globalStep, increment, variable } from '../../src/graph/ops/state.js';
import { MonitoredSession } from '../../src/train/monitored-session.js';
import { openSession } from '../runtime/with-session.js';
import { FakeClock } from '../support/fake-clock.js';

t.test('listeners of a restore are all told before, then all after, once per session', async (t) => {
  const told: string[] = [];
  const listener = (name: string): CheckpointRestorerListener => ({
    begin: () => void told.push(`${name} begin`),
    beforeRestore: () => void told.push(`${name} before`),
    afterRestore: () => void told.push(`${name} after`),
    end: (session) => void told.push(`${name} end ${session.globalStep}`),
  });
  const graph = new Graph();
  const step = increment(globalStep(graph)) as Op;
  const monitored = await MonitoredSession.create({
    graph,
    hooks: [new CheckpointRestorerHook([listener('a'), listener('b')])],
    createSession: () => openSession(graph, { threads: 1 }),
  });
  await monitored.run([step]);
  await monitored.close();
  t.same(told, ['a begin', 'b begin', 'a before', 'b before', 'a after', 'b after', 'a end 1', 'b end 1']);
});

t.test('a saver of variables: what rotation spares, and what it refuses', async (t) => {
  const dir = t.testdir();
  const graph = new Graph();
  variable(graph, { name: 'v', shape: [2], initial: () => new Float32Array(2) });
  const session = await openSession(graph, { threads: 1 });
  t.teardown(() => session.close());
  const at = (name: string) => join(dir, name);
  const exists = (...names: string[]) => names.filter((name) => checkpointExists(at(name)));

  const clock = new FakeClock(0);
  const saver = new PartialRecoverySaver({ maxToKeep: 1, modelDir: dir, keepCheckpointEveryNHours: 1, clock });
  await saver.save(session, at('a'));
  await writeMonolithState(dir, { exemptModelCheckpointPaths: [at('a')] });
  await saver.save(session, at('b'));
  await saver.save(session, at('c'));
  t.same(exists('a', 'b', 'c'), ['a', 'b', 'c'], 'a is exempt, b is newer than the first hour');
  utimesSync(at('c.index'), 5000, 5000);
  await saver.save(session, at('d'));
  t.same(exists('b', 'c', 'd'), ['b', 'd'], 'the next is due an hour later');

  const refusals: [() => Promise<unknown>, RegExp][] = [
    [() => saver.restore(session, null), /^Can't load save_path when it is None\.$/],
    [
      () => saver.save(session, at('x'), { latestFilename: 'a/b' }),
      /^'latest_filename' must not contain path components$/,
    ],
    [
      () => saver.save(session, 'checkpoint'),
      /^'latest_filename' collides with 'save_path': 'checkpoint' and 'checkpoint'$/,
    ],
    [async () => new PartialRecoverySaver({ varList: [] }), /^No variables to save$/],
    [() => new PartialRecoverySaver({ varList: ['w'] }).save(session, at('x')), /no variable w/],
  ];
  for (const [call, message] of refusals) await t.rejects(call(), { code: 'ML_SAVER', message });
  t.equal(await new PartialRecoverySaver({ skipSave: true }).save(session, at('skipped')), null);
  t.notOk(checkpointExists(at('skipped')));
});
