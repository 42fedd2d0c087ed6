/** @file Where estimators are used: in threads, beside each other, in a server. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { runNode } from '../../run-node.js';
import { listOf, tasteEstimator, tasteRows } from './tastes.js';

const ROWS = tasteRows(640);

t.test('a worker thread trains, evaluates and predicts as the main thread does', async (t) => {
  const dir = t.testdir();
  const worker = new Worker(new URL('./worker-program.js', import.meta.url), { workerData: join(dir, 'thread') });
  const [[told]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
  await using estimator = tasteEstimator({ modelDir: join(dir, 'main') });
  const { step } = await estimator.train(ROWS, { epochs: 2 });
  const { metrics } = await estimator.evaluate(tasteRows(64, 1000));
  const predictions = await listOf(estimator.predict(tasteRows(3)));
  t.same(told, { step, auc: metrics.auc, predictions: predictions.map(({ prediction }) => prediction) });
});

t.test('two estimators train at once and do not disturb each other', async (t) => {
  const losses = async () => {
    await using estimator = tasteEstimator();
    const { loss } = await estimator.train(ROWS, { epochs: 2 });
    return loss;
  };
  const alone = await losses();
  t.same(await Promise.all([losses(), losses()]), [alone, alone]);
});

t.test('a server predicts for many at once, and trains meanwhile', async (t) => {
  const listeners = () => ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'].map((signal) => process.listenerCount(signal));
  const before = listeners();
  await using estimator = tasteEstimator();
  await estimator.train(ROWS, { epochs: 8 });
  t.same(listeners(), before, 'no signal is listened to');
  const server = createServer((request, response) => {
    const user = Number(new URL(request.url!, 'http://host').searchParams.get('user'));
    const rows = Array.from({ length: 4 }, (_, item) => ({ user, item }));
    void listOf(estimator.predict(rows)).then((found) => response.end(JSON.stringify(found)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ask = async (user: number) => {
    const answer = (await (await fetch(`http://127.0.0.1:${port}/?user=${user}`)).json()) as {
      row: { user: number; item: number };
      prediction: number;
    }[];
    return answer.every(
      ({ row, prediction }) => row.user === user && prediction > 0.5 === ((user + row.item) % 2 === 1),
    );
  };
  const training = estimator.train(ROWS, { steps: 200 });
  const answers = await Promise.all(Array.from({ length: 12 }, (_, user) => ask(user)));
  t.ok(answers.every(Boolean), 'everyone gets the answer to the own question');
  t.match(await training, { stoppedBy: 'steps' });
  server.close();
});

t.test('a program that forgets to close ends, and leaves nothing behind', async (t) => {
  const module = new URL('./tastes.js', import.meta.url).href;
  const program = `
    import { tasteEstimator, tasteRows } from '${module}';
    const estimator = tasteEstimator({ idleSeconds: 0.05 });
    const { checkpoint } = await estimator.train(tasteRows(64), { steps: 2 });
    await estimator.evaluate(tasteRows(64));
    console.log(checkpoint);`;
  const { code, out, err } = await runNode(['--input-type=module', '-e', program], { cwd: t.testdir() });
  t.same({ code, err }, { code: 0, err: '' });
  t.notOk(existsSync(`${out.trim()}.index`), out);
});
