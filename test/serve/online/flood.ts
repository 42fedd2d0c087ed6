/**
 * @file A client in a process of its own that opens many connections and leaves them idle or half-way through a
 * request: `node flood.js PORT COUNT BEYOND`. Tells what the ones beyond got, and ends when its input does.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Connections that are opened together: the system lets so many wait. */
const TOGETHER = 100;
const [port, count, beyond] = process.argv.slice(2).map(Number) as [number, number, number];
const PIECES = ['', 'POST /v1/mod', 'POST /v1/models/shop:predict HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n{'];

async function open(piece: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {}); // it shows as closed
  await once(socket, 'connect');
  socket.write(piece);
  return socket;
}

const sockets: Socket[] = [];
while (sockets.length < count) {
  const some = Math.min(TOGETHER, count - sockets.length);
  sockets.push(...(await Promise.all(Array.from({ length: some }, (_, at) => open(PIECES[at % PIECES.length]!)))));
}
console.log(JSON.stringify({ opened: sockets.length, closed: sockets.filter(({ closed }) => closed).length }));
await once(process.stdin, 'data');
const told = await Promise.all(
  Array.from({ length: beyond }, async () => {
    const socket = await open('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    let text = '';
    socket.on('data', (piece) => {
      text += piece;
    });
    await once(socket, 'close');
    return text.slice(0, text.indexOf('\r\n'));
  }),
);
console.log(JSON.stringify({ told: [...new Set(told)], closed: sockets.filter(({ closed }) => closed).length }));
await once(process.stdin, 'end');
for (const socket of sockets) socket.destroy();
