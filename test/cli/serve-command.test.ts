/** @file `monolith serve`: as a process that answers, and ends well when it is asked to. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { exportedShop } from '../serve/online/served.js';
import { runHere } from './run-here.js';

const dir = t.testdir();
await exportedShop(dir);
const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

t.test('it tells how to ask, answers, and ends with SIGTERM', async (t) => {
  const child = spawn(process.execPath, [main, 'serve', 'shop=export', '--port', '0', '--json'], { cwd: dir });
  t.teardown(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value as string) as Record<string, string>;
  const ready = await next();
  t.match(ready, { event: 'ready', model: 'shop', version: /^\d+$/, url: /^http:\/\/127\.0\.0\.1:\d+$/ });
  t.match(await next(), { event: 'listening' });
  const body = JSON.stringify({ instances: [{ user: 'u1', item: 3 }] });
  const answer = await fetch(`${ready.url}/v1/models/shop:predict`, { method: 'POST', body });
  t.match(await answer.json(), { predictions: [Number] });
  child.kill('SIGTERM');
  t.match(await next(), { event: 'stopped', finished: 0, dropped: 0 });
  const [code] = await once(child, 'exit');
  t.equal(code, 0);
});

t.test('what it cannot serve is said before it listens', async (t) => {
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['serve'], 2, /serve: needs a folder\nhint: .*--follow RUN/],
    [['serve', 'none'], 1, /ML_NO_MODELS: no models in dir none/],
    [
      ['serve', 'export', 'other/export'],
      1,
      /export and other\/export are both called export\nhint: give one another name/,
    ],
    [
      ['serve', 'export', '--port', '0', '--grpc-port', '0'],
      1,
      /ML_PEER: serving gRPC needs the package @grpc\/grpc-js: it is not installed\nhint: npm install @grpc\/grpc-js/,
    ],
    [['serve', 'export', '--tls-cert', 'a.pem'], 2, /--tls-cert: needs --tls-key beside it/],
    [['serve', 'export', '--prot', '1'], 2, /--prot: unknown flag\nhint: did you mean --port/],
    [['serve', 'export', '--port', '0', '--tls-cert', 'a.pem', '--tls-key', 'b.pem'], 1, /ML_FILE_READ: file a\.pem/],
  ];
  for (const [args, code, err] of cases) t.match(await runHere(args, { cwd: dir }), { code, err });
});
