import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { latestCheckpoint, loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { prepareModelDir } from '../../src/checkpoint/model-dir.js';
import { restoreSession } from '../../src/checkpoint/restore-session.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { snapshotSession } from '../../src/checkpoint/session-snapshot.js';
import { Graph } from '../../src/graph/graph.js';
import { relu } from '../../src/graph/ops/activations.js';
import { globalStep, placeholder } from '../../src/graph/ops/state.js';
import { RecordReader } from '../../src/io/record-reader.js';
import { startTogether } from '../../src/runtime/pool/start-together.js';
import { startError } from '../../src/runtime/pool/thread-error.js';
import { Session } from '../../src/runtime/session/session.js';
import { MAIN } from '../cli/run-cli.js';
import { missing } from '../requirement.js';
import { runNode } from '../run-node.js';

const any = (value: unknown) => value as never;

t.test('feeds that are none are refused with a code, and the session goes on', async (t) => {
  const graph = new Graph();
  const y = relu(placeholder(graph, { name: 'x', width: 3 }));
  const schema = [{ name: 'x', kind: 'dense', width: 3 }] as const;
  const session = await Session.create(graph, { schema, batchSize: 4, threads: 1 });
  t.teardown(() => session.close());
  const moved = new Float32Array(3);
  structuredClone(moved.buffer, { transfer: [moved.buffer] });
  const cases: Record<string, unknown> = {
    'no feeds': null,
    'a null': { x: null },
    'a number': { x: 3 },
    'an array that was transferred': { x: moved },
    'a map with no placeholder': new Map([[null, new Float32Array(3)]]),
  };
  for (const [name, feeds] of Object.entries(cases)) {
    await t.rejects(session.run([y], any(feeds)), { name: 'MonolithError', code: 'ML_FEED' }, name);
  }
  t.same(await session.run([y], { x: Float32Array.of(-1, 0, 1) }), [Float32Array.of(0, 0, 1)]);
});

t.test('a session without a schema, options or graph says what is missing', async (t) => {
  const flag = { name: 'MonolithError', code: 'ML_FLAG' };
  for (const options of [undefined, null, {}, { batchSize: 4 }, { schema: null, batchSize: 4 }, { schema: [null] }]) {
    await t.rejects(Session.create(new Graph(), any(options)), {
      ...flag,
      fields: { flag: 'schema' },
      hint: /schema:/,
    });
  }
  await t.rejects(Session.create(any(null), { schema: [], batchSize: 1 }), { ...flag, fields: { flag: 'graph' } });
});

t.test('a number of threads that no pool has is refused before anything is made for each', async (t) => {
  for (const threads of [0, 1.5, 65, 1e9, Number.POSITIVE_INFINITY]) {
    const options = { schema: [], batchSize: 1, threads };
    await t.rejects(Session.create(new Graph(), options), { code: 'ML_FLAG', fields: { flag: 'threads' } });
  }
});

t.test('what is no variable, and values that are none, are errors with a code', async (t) => {
  const graph = new Graph();
  globalStep(graph);
  const session = await Session.create(graph, { schema: [], batchSize: 1, threads: 1 });
  t.teardown(() => session.close());
  const refused = { name: 'MonolithError', code: 'ML_GRAPH' };
  for (const name of [undefined, null, 7, {}, 'globalstep']) {
    t.throws(() => session.readVariable(any(name)), refused);
    t.throws(() => session.writeVariable(any(name), BigInt64Array.of(1n)), refused);
  }
  for (const values of [undefined, null, '1', [1.5], { 0: 1n }]) {
    t.throws(() => session.writeVariable('global_step', any(values)), {
      ...refused,
      message: /global_step: its values are int64: /,
    });
  }
  const moved = BigInt64Array.of(1n);
  structuredClone(moved.buffer, { transfer: [moved.buffer] });
  t.throws(() => session.writeVariable('global_step', moved), refused);
  t.equal(session.globalStep, 0);
  const dir = t.testdir();
  for (const path of [undefined, null, 7, 'a\0b']) {
    await t.rejects(saveCheckpoint(any(path), snapshotSession(session, 'x')), { code: 'ML_CKPT_WRITE' });
    await t.rejects(prepareModelDir(any(path)), { code: 'ML_DIR' });
    await t.rejects(saveCheckpoint(dir, any(path)), { code: 'ML_CKPT_WRITE', hint: /snapshot/ });
    await t.rejects(restoreSession(session, any(path)), { code: 'ML_CKPT_READ', hint: /loadCheckpoint/ });
    await t.rejects(restoreSession(any(path), dir), { code: 'ML_FLAG', fields: { flag: 'session' } });
    t.throws(() => snapshotSession(any(path), 'x'), { code: 'ML_FLAG', fields: { flag: 'session' } });
  }
});

t.test('paths that no file can have are errors with a code', async (t) => {
  for (const path of ['a\0b', undefined, null, 7]) {
    await t.rejects(loadCheckpoint(any(path)), { code: 'ML_CKPT_PATH', hint: /such as/ });
    await t.rejects(latestCheckpoint(any(path)), { code: 'ML_CKPT_READ' });
    t.throws(() => new RecordReader(any(path)), { code: 'ML_FILE_READ' });
  }
});

t.test('a pipe or a device in place of a file is refused at once', async (t) => {
  const dir = t.testdir({ device: {}, pipe: {} });
  if (spawnSync('mkfifo', [join(dir, 'pipe/checkpoint')]).status !== 0) {
    return t.plan(0, missing('linux', 'no pipe can be made'));
  }
  spawnSync('ln', ['-s', '/dev/zero', join(dir, 'device/checkpoint')]);
  for (const kind of ['pipe', 'device']) {
    const file = join(dir, kind, 'checkpoint');
    const refused = new RegExp(`it is a ${kind} and not a regular file`);
    await t.rejects(latestCheckpoint(join(dir, kind)), { code: 'ML_CKPT_READ', message: refused });
    t.throws(() => new RecordReader(file), { code: 'ML_FILE_READ', message: refused });
    for (const args of [
      ['inspect', join(dir, kind)],
      ['trace', file],
      ['train', '--data', 'reference', '--steps', '1', '--threads', '1', '--model-dir', join(dir, kind)],
    ]) {
      const ended = await runNode([MAIN, ...args], { cwd: dir });
      t.equal(ended.code, 1, `${args[0]} of a ${kind}`);
      t.match(ended.err, refused);
    }
  }
});

t.test('a thread that the system refuses is told by its own code', async (t) => {
  const refused = Object.assign(new Error('EAGAIN'), { errno: -11 });
  t.match(startError(3, refused), { code: 'ML_THREADS', fields: { thread: 3 }, hint: /ulimit -u/, cause: refused });
  t.match(startError('data', Object.assign(new Error('x'), { code: 'ERR_WORKER_INIT_FAILED' })), {
    code: 'ML_THREADS',
  });
  t.equal(startError(0, new Error('out of memory')), null);
});

t.test('threads that were started before the one that was refused are ended, and no others', async (t) => {
  const make = () => new Worker('setInterval(() => {}, 1000)', { eval: true, execArgv: [] });
  const other = make();
  t.teardown(() => other.terminate());
  const mine: Worker[] = [];
  const start = () => {
    mine.push(make(), make());
    throw new Error('EAGAIN');
  };
  await t.rejects(startTogether(start), { code: 'ML_THREADS', fields: { thread: 2 } });
  t.same(
    mine.map(({ threadId }) => threadId),
    [-1, -1],
    'ended',
  );
  t.not(other.threadId, -1);
  t.equal(process.listenerCount('worker'), 0);
});

t.test('a run under a limit on threads says so', async (t) => {
  const tools = ['/usr/bin/setpriv', '/usr/bin/prlimit'];
  if (process.getuid?.() !== 0 || !tools.every((tool) => existsSync(tool))) {
    return t.plan(0, missing('root', 'the limit counts all processes of a user, and another user is needed'));
  }
  // A user that has no other process. How many threads Node itself takes differs by version, so several limits are
  // tried.
  const args = ['--reuid=64987', '--regid=64987', '--clear-groups', tools[1]!];
  const command = [process.execPath, MAIN, 'train', '--data', 'reference', '--steps', '1', '--threads', '8'];
  const seen: string[] = [];
  for (const limit of [12, 15]) {
    const ended = spawnSync(tools[0]!, [...args, `--nproc=${limit}`, ...command], {
      encoding: 'utf8',
      timeout: 60_000,
      env: { PATH: process.env.PATH, MONOLITH_CACHE_DIR: join(t.testdirName, 'none') },
    });
    const code = /error (ML_\w+)/.exec(ended.stderr)?.[1];
    seen.push(code ?? String(ended.status ?? ended.signal));
    if (code !== undefined) t.equal(ended.status, 1);
  }
  t.notOk(seen.includes('ML_INTERNAL'), seen.join());
  t.ok(seen.includes('ML_THREADS'), seen.join());
});
