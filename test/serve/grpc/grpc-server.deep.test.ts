/** @file gRPC on a port, asked by a client of @grpc/grpc-js: answers, statuses, limits, token, TLS, and the end. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import * as messages from '../../../src/serve/grpc/messages.js';
import { type ServeOptions, type Serving, serveModels } from '../../../src/serve/online/serve-models.js';
import { missing } from '../../requirement.js';
import { exportedShop } from '../online/served.js';
import { purchases, small } from '../shops.js';
import { begun, type GrpcError, type GrpcPackage, getGrpc, unary } from './grpc-client.js';
import { columnsOf, spec } from './wire.js';

const PREDICT = '/tensorflow.serving.PredictionService/Predict';
const MAIN = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));
const found = await getGrpc();
if (typeof found === 'string') t.plan(0, missing('grpc', found));
else await tests(found);

async function tests(grpc: GrpcPackage): Promise<void> {
  const dir = t.testdir();
  await exportedShop(dir);
  // The package is looked for in the project that runs.
  process.chdir(grpc.folder);
  const rows = purchases(5, 7000);
  const request = (more: object = {}) =>
    messages.PREDICT_REQUEST.encode({ modelSpec: spec(), inputs: new Map(columnsOf(rows)), ...more });
  const valuesOf = (answer: Uint8Array) =>
    Array.from(messages.PREDICT_RESPONSE.decode(answer).outputs.get('output')!.floatVal!);

  async function serve(t: Test, options: Partial<ServeOptions> = {}): Promise<Serving> {
    const on = { port: 0, grpcPort: 0, load: small, pollMs: 0 };
    const serving = await serveModels({ shop: join(dir, 'export') }, { ...on, ...options });
    t.teardown(() => serving.close());
    return serving;
  }
  function clientOf(t: Test, target: string, credentials = grpc.credentials.createInsecure(), options = {}) {
    const client = new grpc.Client(target, credentials, options);
    t.teardown(() => client.close());
    return (path: string, bytes: Uint8Array, more?: object) => unary(grpc, client, path, bytes, more);
  }
  const failureOf = async (asked: Promise<unknown>): Promise<GrpcError> => {
    const error = await asked.then(
      () => new Error('it was answered'),
      (error: GrpcError) => error,
    );
    return error as GrpcError;
  };

  t.test('it is asked as it is over HTTP, and answers the same; both are counted', async (t) => {
    const serving = await serve(t);
    t.match(serving.grpcTarget, /^127\.0\.0\.1:\d+$/);
    const ask = clientOf(t, serving.grpcTarget!);
    const instances = rows.map(({ user, item, tags, price }) => ({ user, item, tags, price }));
    const url = `${serving.url}/v1/models/shop:predict`;
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ instances }) });
    const { predictions } = (await answer.json()) as { readonly predictions: number[] };
    t.same(valuesOf(await ask(PREDICT, request())), predictions);
    const { text } = await fetch(`${serving.url}/metrics`).then(async (one) => ({ text: await one.text() }));
    t.match(text, /monolith_requests_total\{model="shop",call="predict",code="200"\} 1/);
    t.match(text, /monolith_requests_total\{model="shop",call="grpc\.Predict",code="OK"\} 1/);
    const many = await Promise.all(Array.from({ length: 50 }, () => ask(PREDICT, request())));
    for (const one of many) t.same(valuesOf(one), predictions);
  });

  t.test('errors have the status of gRPC, the sentence and the code', async (t) => {
    const serving = await serve(t, { bodyBytesMax: 2000 });
    const ask = clientOf(t, serving.grpcTarget!);
    const unknown = await failureOf(ask(PREDICT, request({ modelSpec: spec({ name: 'shp' }) })));
    t.match(unknown, { code: 5, details: /Latest\(shp\); did you mean shop\?/ });
    t.same(unknown.metadata.get('monolith-code'), ['ML_REQUEST']);
    t.match(await failureOf(ask(PREDICT, request({ outputFilter: ['é\n'] }))), { code: 3, details: /signature: é\n;/ });
    t.match(await failureOf(ask(PREDICT, Buffer.from('no message'))), { code: 3, details: /message is malformed/ });
    t.match(await failureOf(ask(PREDICT, request({ outputFilter: ['x'.repeat(1500)] }))), { code: 3 });
    t.match(await failureOf(ask(PREDICT, Buffer.alloc(3000))), { code: 8 });
    t.match(await failureOf(ask('/tensorflow.serving.PredictionService/MultiInference', request())), { code: 12 });
    t.equal(valuesOf(await ask(PREDICT, request())).length, 5);
  });

  t.test('who waits beyond the queue or the deadline is told, and who goes is let go', async (t) => {
    const serving = await serve(t, { openMax: 2, deadlineMs: 300 });
    const ask = clientOf(t, serving.grpcTarget!);
    const model = serving.models.get('shop')!.current.model;
    let free = () => {};
    const held = model.hold(
      () =>
        new Promise<void>((resolve) => {
          free = resolve;
        }),
    );
    const codes = await Promise.all([1, 2, 3].map(() => failureOf(ask(PREDICT, request()))));
    t.same(codes.map(({ code }) => code).sort(), [14, 4, 4].sort());
    t.same(codes.find(({ code }) => code === 14)!.metadata.get('retry-after'), ['1']);
    const late = await failureOf(ask(PREDICT, request(), { deadline: Date.now() + 30 }));
    t.equal(late.code, 4);
    free();
    await held;
    t.equal(valuesOf(await ask(PREDICT, request())).length, 5);
    t.equal(serving.metrics.value('monolith_requests_open'), 0);
  });

  t.test('a request that does not come, and bytes that are no HTTP/2, are sent away', async (t) => {
    const serving = await serve(t, { requestMs: 200, connectionsMax: 3 });
    const slow = new grpc.Client(serving.grpcTarget!, grpc.credentials.createInsecure(), {});
    t.match(await begun(grpc, slow, PREDICT), { code: 4, details: /did not come within 200 ms/ });
    slow.close();
    const port = Number(serving.grpcTarget!.split(':')[1]);
    const noise = connect(port, '127.0.0.1');
    noise.on('error', () => {});
    noise.write('GET / HTTP/1.1\r\n\r\n');
    noise.resume();
    await once(noise, 'close');
    const sockets = Array.from({ length: 10 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    await Promise.race(sockets.map((socket) => once(socket, 'close')));
    for (const socket of sockets) socket.destroy();
    const ask = clientOf(t, serving.grpcTarget!, undefined, { 'grpc.initial_reconnect_backoff_ms': 100 });
    t.equal(valuesOf(await answeredAtLast(() => ask(PREDICT, request()))).length, 5);
  });

  /** Places of connections that were closed are free a moment later. */
  async function answeredAtLast(ask: () => Promise<Uint8Array>): Promise<Uint8Array> {
    for (let turn = 0; turn < 100; turn++) {
      const answer = await ask().catch(() => undefined);
      if (answer !== undefined) return answer;
    }
    throw new Error('nothing was answered');
  }

  t.test('with a token nothing is answered without it', async (t) => {
    const serving = await serve(t, { token: 'secret' });
    const ask = clientOf(t, serving.grpcTarget!);
    for (const more of [{}, { token: 'other' }]) {
      t.match(await failureOf(ask(PREDICT, request(), more)), { code: 16, details: 'a token is needed' });
    }
    t.equal(valuesOf(await ask(PREDICT, request(), { token: 'secret' })).length, 5);
  });

  const openssl = hasOpenssl();
  t.test('with a certificate it is encrypted', { skip: openssl ? false : 'no openssl' }, async (t) => {
    const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const made = [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      key,
      '-out',
      cert,
      ...subject,
    ];
    execFileSync('openssl', made, { stdio: 'ignore' });
    const serving = await serve(t, { tls: { cert, key } });
    const ask = clientOf(t, serving.grpcTarget!, grpc.credentials.createSsl(readFileSync(cert)));
    t.equal(valuesOf(await ask(PREDICT, request())).length, 5);
    const plain = clientOf(t, serving.grpcTarget!);
    t.match(await failureOf(plain(PREDICT, request())), { code: 14 });
  });

  t.test('an end lets those finish who are being answered, and takes nobody else', async (t) => {
    const serving = await serve(t);
    const ask = clientOf(t, serving.grpcTarget!);
    const model = serving.models.get('shop')!.current.model;
    let free = () => {};
    const held = model.hold(
      () =>
        new Promise<void>((resolve) => {
          free = resolve;
        }),
    );
    const asked = Array.from({ length: 6 }, () => ask(PREDICT, request()));
    while (serving.metrics.value('monolith_requests_open') < 6) await new Promise((next) => setImmediate(next));
    const closing = serving.close();
    free();
    await held;
    for (const answer of await Promise.all(asked)) t.equal(valuesOf(answer).length, 5);
    t.same(await closing, { finished: 6, dropped: 0 });
    t.match(await failureOf(ask(PREDICT, request())), { code: 14 });
  });

  t.test('a port that is taken is an error, with nothing left open', async (t) => {
    const serving = await serve(t);
    const grpcPort = Number(serving.grpcTarget!.split(':')[1]);
    await t.rejects(serve(t, { grpcPort }), { code: 'ML_SERVER', hint: /--grpc-port 0/ });
    const port = Number(new URL(serving.url).port);
    await t.rejects(serve(t, { port }), { code: 'ML_SERVER', hint: /--port 0/ });
  });

  t.test('the command tells where, answers, and ends with SIGTERM', async (t) => {
    const args = [MAIN, 'serve', `shop=${join(dir, 'export')}`, '--port', '0', '--grpc-port', '0', '--json'];
    const child = spawn(process.execPath, args, { cwd: grpc.folder });
    t.teardown(() => child.kill('SIGKILL'));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await lines.next()).value as string) as Record<string, string>;
    await next();
    const listening = await next();
    const ask = clientOf(t, listening.grpc!);
    t.equal(valuesOf(await ask(PREDICT, request())).length, 5);
    child.kill('SIGTERM');
    t.match(await next(), { event: 'stopped', dropped: 0 });
    t.equal((await once(child, 'exit'))[0], 0);
  });
}

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
