/**
 * @file Connections of a server up to a number: who comes after is told so, with 503, and sent away.
 *
 * The number is lower where the process may not open as many files: without one left nothing could be taken, and a new
 * version could not be read.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { openFilesMax } from '../../base/open-files.js';

/** Files that are left for models and for those who are sent away. */
const SPARE_FILES = 200;
/** Connections that are being sent away at the same time; further ones are closed without a word. */
const LEAVING_MAX = 100;
const LEAVING_MS = 1000;

const BODY = JSON.stringify({ error: 'too many connections; ask again later', code: 'ML_REQUEST' });
const REFUSAL = [
  'HTTP/1.1 503 Service Unavailable',
  'content-type: application/json',
  'connection: close',
  'retry-after: 1',
  `content-length: ${Buffer.byteLength(BODY)}`,
  '',
  BODY,
].join('\r\n');

/** As many as were asked for, or as the limit on open files leaves room for. */
export function connectionsThatFit(asked: number): number {
  const files = openFilesMax();
  return files === undefined ? asked : Math.max(1, Math.min(asked, files - SPARE_FILES));
}

/** Holds a server to `most` connections; what this gives closes those that are being sent away. */
export function boundConnections(server: Server, most: number, event: 'connection' | 'secureConnection'): () => void {
  const taken = new Set<Socket>();
  const leaving = new Set<Socket>();
  const take = server.listeners(event);
  server.removeAllListeners(event);
  server.maxConnections = most + LEAVING_MAX;
  server.on(event, (socket: Socket) => {
    const among = taken.size < most ? taken : leaving;
    among.add(socket);
    socket.once('close', () => among.delete(socket));
    if (among === taken) for (const listener of take) listener.call(server, socket);
    else sendAway(socket);
  });
  return () => {
    for (const socket of leaving) socket.destroy();
  };
}

function sendAway(socket: Socket): void {
  socket.on('error', () => socket.destroy());
  socket.setTimeout(LEAVING_MS, () => socket.destroy());
  // What it has sent is read: with bytes unread the end would take the answer away from it.
  socket.resume();
  socket.end(REFUSAL);
}
