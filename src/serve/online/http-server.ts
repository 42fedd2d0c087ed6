/**
 * @file A handler behind a socket: what a client may take of time and connections is bounded, and an end lets everybody
 * finish who is being answered.
 */
import { createServer as createHttp, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { MonolithError, messageOf } from '../../base/errors.js';
import { readWhole } from '../../base/files/read-file.js';
import { boundConnections, connectionsThatFit } from './bound-connections.js';
import type { PredictHandler } from './handler-options.js';

export interface ListenOptions {
  /** Default: 127.0.0.1, which no other machine reaches. */
  readonly host?: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Files of a certificate and its key, in PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Connections at the same time; further ones are 503. Default: 10 000, or as many as files may be open. */
  readonly connectionsMax?: number;
  /** Milliseconds in which a request has to come whole. Default: 10 000. */
  readonly requestMs?: number;
}

export interface Listening {
  readonly url: string;
  /** Connections that are taken at the most: those asked for, or as many as files may be open. */
  readonly connectionsMax: number;
  /** Requests that are being answered. */
  readonly open: number;
  /** Takes no more, and ends once what was asked is answered, or after so many milliseconds. Says what was dropped. */
  close(withinMs: number): Promise<{ readonly finished: number; readonly dropped: number }>;
}

export const REQUEST_MS = 10_000;
/** A connection on which nothing moves is closed: by a client that does not read, for example. */
const SILENT_MS = 30_000;
const KEEP_ALIVE_MS = 5000;
const CHECK_MS = 1000;

export async function listen(handler: PredictHandler, options: ListenOptions): Promise<Listening> {
  const { getRequestListener } = await import('@hono/node-server');
  const { host = '127.0.0.1', port, tls, connectionsMax = 10_000, requestMs = REQUEST_MS } = options;
  const own = { requestTimeout: requestMs, headersTimeout: requestMs, connectionsCheckingInterval: CHECK_MS };
  const server: Server = tls === undefined ? createHttp(own) : createHttps({ ...own, ...certificates(tls) });
  const connections = connectionsThatFit(connectionsMax);
  const sendAway = boundConnections(server, connections, tls === undefined ? 'connection' : 'secureConnection');
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.timeout = Math.max(SILENT_MS, requestMs);
  // Who has ended its own side still wants the answer. Node.js has it for servers since ever, and not in its types.
  Object.assign(server, { httpAllowHalfOpen: true });
  const answer = getRequestListener(handler, { hostname: host, overrideGlobalObjects: false });
  let [open, closing] = [0, false];
  let emptied: (() => void) | undefined;
  server.on('request', (request, response) => {
    open++;
    if (closing) response.setHeader('connection', 'close');
    response.once('close', () => {
      open--;
      if (open === 0) emptied?.();
    });
    // What goes wrong with a connection is its client's to see; the server lives.
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(startError(cause, host, port)));
    server.listen(port, host, resolve);
  });
  // Out of file descriptors, mostly: connections that are there go on.
  server.on('error', (error) => process.emitWarning(`the server: ${messageOf(error)}`));
  const { port: bound } = server.address() as AddressInfo;
  const shown = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http${tls === undefined ? '' : 's'}://${shown}:${bound}`,
    connectionsMax: connections,
    get open() {
      return open;
    },
    async close(withinMs) {
      closing = true;
      const begun = open;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      let timer: NodeJS.Timeout | undefined;
      const limit = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, withinMs);
      });
      const done = new Promise<void>((resolve) => {
        emptied = resolve;
        if (open === 0) resolve();
      });
      await Promise.race([done, limit]);
      clearTimeout(timer);
      const dropped = open;
      server.closeAllConnections();
      sendAway();
      await closed;
      return { finished: Math.max(0, begun - dropped), dropped };
    },
  };
}

/** The bytes of both files. */
export function certificates({ cert, key }: { readonly cert: string; readonly key: string }) {
  const read = (file: string) => {
    try {
      return readWhole(file, 'stateBytes');
    } catch (cause) {
      throw new MonolithError('ML_FILE_READ', { file, reason: messageOf(cause) }, { cause });
    }
  };
  return { cert: read(cert), key: read(key) };
}

/** ML_SERVER with what to do where the port is taken. */
export function startError(cause: Error, host: string, port: number, flag = '--port'): MonolithError {
  const { code } = cause as NodeJS.ErrnoException;
  const taken = code === 'EADDRINUSE';
  const reason = taken ? `port ${port} of ${host} is taken` : messageOf(cause);
  const hint = taken ? `${flag} 0 takes one that is free` : undefined;
  return new MonolithError('ML_SERVER', { reason }, { cause, ...(hint !== undefined && { hint }) });
}
