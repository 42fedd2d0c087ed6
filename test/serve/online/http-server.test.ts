/** @file The server behind a socket: clients that are slow, leave, send too much or come in thousands do it no harm. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { listen } from '../../../src/serve/online/http-server.js';
import { type Serving, serveModels } from '../../../src/serve/online/serve-models.js';
import { small } from '../shops.js';
import { exportedShop } from './served.js';

const dir = t.testdir();
await exportedShop(dir);
const started: Serving[] = [];
t.teardown(() => Promise.all(started.map((one) => one.close())));

async function serve(options: object = {}): Promise<Serving> {
  const made = await serveModels({ shop: join(dir, 'export') }, { port: 0, load: small, pollMs: 0, ...options });
  started.push(made);
  return made;
}

const PREDICT = '/v1/models/shop:predict';
const ROW = JSON.stringify({ instances: [{ user: 'u1', item: 3 }] });
const post = (url: string, body: string) => fetch(`${url}${PREDICT}`, { method: 'POST', body });

async function socketTo(url: string): Promise<Socket> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {}); // a reset is an end too
  await once(socket, 'connect');
  return socket;
}

/** All that comes until the other side closes. */
async function restOf(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (piece) => {
    text += piece;
  });
  if (!socket.closed) await once(socket, 'close');
  return text;
}

const server = await serve({ requestMs: 300, bodyBytesMax: 1000 });
const lives = async () => (await post(server.url, ROW)).status === 200;

t.test('it listens on this machine alone, and answers', async (t) => {
  t.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  const answer = await post(server.url, ROW);
  t.equal(answer.status, 200);
  t.match(await answer.json(), { predictions: [Number] });
  t.equal((await fetch(`${server.url}/readyz`)).status, 200);
  await t.rejects(serve({ port: Number(new URL(server.url).port) }), { code: 'ML_SERVER', hint: /--port 0/ });
});

t.test('a client that sends its request a byte at a time is sent away', async (t) => {
  for (const begun of [
    'POST /v1/models/shop:predict HT',
    `POST ${PREDICT} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{`,
  ]) {
    const socket = await socketTo(server.url);
    socket.write(begun);
    t.match(await restOf(socket), /^(?:HTTP\/1\.1 (?:408|504)|$)/);
  }
  t.ok(await lives());
});

t.test("half-closed sockets, and those that break off in a request, are nobody else's trouble", async (t) => {
  const head = `POST ${PREDICT} HTTP/1.1\r\nHost: a\r\nContent-Length: ${ROW.length}\r\n\r\n`;
  const half = await socketTo(server.url);
  half.end(`${head}${ROW}`);
  t.match(await restOf(half), /^HTTP\/1\.1 200/, 'who only ends its own side is answered');
  for (const piece of ['', 'GE', head, `${head}${ROW.slice(0, 5)}`, `${head}${ROW}`]) {
    const socket = await socketTo(server.url);
    socket.write(piece, () => socket.destroy());
    await once(socket, 'close');
  }
  const noise = await socketTo(server.url);
  noise.write('\x16\x03\x01\x00\xff no HTTP at all\r\n\r\n');
  t.match(await restOf(noise), /^HTTP\/1\.1 400/);
  t.ok(await lives());
});

t.test('100 MB are refused before they are read', async (t) => {
  const { hostname, port } = new URL(server.url);
  let sent = 0;
  const status = await new Promise<number | undefined>((resolve) => {
    const sending = httpRequest({ hostname, port, path: PREDICT, method: 'POST', headers: { 'content-length': 1e8 } });
    const piece = Buffer.alloc(2 ** 16, 32);
    const more = () => {
      while (sent < 1e8 && !sending.destroyed) {
        sent += piece.length;
        if (!sending.write(piece)) {
          sending.once('drain', more);
          return;
        }
      }
    };
    sending.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
      sending.destroy();
    });
    sending.on('error', () => resolve(undefined));
    more();
  });
  t.ok(status === 413 || status === undefined, `${status}`);
  t.ok(sent < 5e7, `${sent} bytes were sent`);
  const chunked = await fetch(`${server.url}${PREDICT}`, {
    method: 'POST',
    body: new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(2 ** 14)),
    }),
    duplex: 'half',
  } as RequestInit).then(
    ({ status: found }) => found,
    () => 0,
  );
  t.ok(chunked === 413 || chunked === 0);
  t.ok(await lives());
});

t.test('connections beyond the most are 503, and those that are there go on', async (t) => {
  const few = await serve({ connectionsMax: 20 });
  t.equal(few.connectionsMax, 20);
  const sockets: Socket[] = [];
  for (let count = 0; count < 20; count++) sockets.push(await socketTo(few.url));
  // One is taken and asked after another: when the last is answered, all of them are in.
  sockets[19]!.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(sockets[19]!, 'data');
  for (const body of ['', 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n']) {
    const beyond = await socketTo(few.url);
    beyond.write(body);
    t.match(await restOf(beyond), /^HTTP\/1\.1 503 .*retry-after: 1\r\n.*too many connections/s);
  }
  sockets[0]!.write('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  t.match(await restOf(sockets[0]!), /^HTTP\/1\.1 200/);
  const next = await socketTo(few.url);
  next.write('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  t.match(await restOf(next), /^HTTP\/1\.1 200/, 'who has gone makes room');
  for (const socket of sockets) socket.destroy();
});

t.test('an end lets those finish who are being answered', async (t) => {
  const ending = await serve();
  const model = ending.models.get('shop')!.current.model;
  let free = () => {};
  const held = model.hold(
    () =>
      new Promise<void>((resolve) => {
        free = resolve;
      }),
  );
  const asked = Array.from({ length: 8 }, () => post(ending.url, ROW));
  while (ending.metrics.value('monolith_requests_open') < 8) await new Promise((next) => setImmediate(next));
  const closing = ending.close();
  free();
  await held;
  const answers = await Promise.all(asked);
  t.same([...new Set(answers.map(({ status }) => status))], [200]);
  t.same(await closing, { finished: 8, dropped: 0 });
  await t.rejects(post(ending.url, ROW), 'nobody is taken any more');
});

t.test('who is not done in time is dropped', async (t) => {
  let asked = () => {};
  const came = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const stuck = await listen(
    () => {
      asked();
      return new Promise<Response>(() => {});
    },
    { port: 0 },
  );
  const answer = fetch(stuck.url).catch(() => 'dropped');
  await came;
  t.same(await stuck.close(10), { finished: 0, dropped: 1 });
  t.equal(await answer, 'dropped');
});
