/**
 * @file The calls of TensorFlow Serving over gRPC, on a port of their own, when @grpc/grpc-js is installed.
 *
 * Connections are taken here and handed over, so that they are bounded as those over HTTP are.
 */
import { createServer, type Socket } from 'node:net';
import { bearsToken } from '../online/bears-token.js';
import { connectionsThatFit } from '../online/bound-connections.js';
import { certificates, type Listening, type ListenOptions, REQUEST_MS, startError } from '../online/http-server.js';
import type { ModelCalls } from '../online/model-calls.js';
import { refusal } from '../online/refusal.js';
import {
  type GrpcLibrary,
  loadGrpc,
  type ServiceDefinition,
  type UnaryCall,
  type UnaryHandler,
} from './grpc-library.js';
import { grpcStatus, statusNameOf } from './grpc-status.js';
import { type Method, servingMethods } from './prediction-service.js';

/** Calls at the same time on one connection. */
const STREAMS_MAX = 1000;
/** A connection without a call is closed; clients open another by themselves. */
const IDLE_MS = 300_000;
/** A client that does not say anything any more is asked whether it lives. */
const PING_MS = 60_000;
const PING_ANSWER_MS = 20_000;
const PACKAGE = 'tensorflow.serving';

export interface ListenGrpcOptions extends ListenOptions {
  readonly token?: string;
}

/** Answers gRPC until it is closed. ML_PEER where the package is missing, ML_SERVER where the port is taken. */
export async function listenGrpc(calls: ModelCalls, options: ListenGrpcOptions): Promise<Listening> {
  const library = await loadGrpc();
  const { host = '127.0.0.1', port, tls, token, connectionsMax = 10_000, requestMs = REQUEST_MS } = options;
  const server = new library.Server({
    'grpc.max_receive_message_length': calls.limits.bodyBytesMax,
    'grpc.max_concurrent_streams': STREAMS_MAX,
    'grpc.max_connection_idle_ms': IDLE_MS,
    'grpc.keepalive_time_ms': PING_MS,
    'grpc.keepalive_timeout_ms': PING_ANSWER_MS,
    'grpc.enable_channelz': 0,
    interceptors: [inTime(library, requestMs)],
  });
  const open = new OpenCalls();
  for (const [service, methods] of Object.entries(servingMethods(calls))) {
    const definition: Record<string, ServiceDefinition[string]> = {};
    const handlers: Record<string, UnaryHandler> = {};
    for (const [name, method] of Object.entries(methods)) {
      definition[name] = bytesMethod(`/${PACKAGE}.${service}/${name}`);
      handlers[name] = handlerOf({ name, method, calls, library, open, token });
    }
    server.addService(definition, handlers);
  }
  const { ServerCredentials } = library;
  const pem = tls === undefined ? undefined : certificates(tls);
  const injector = server.createConnectionInjector(
    pem === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [{ private_key: pem.key, cert_chain: pem.cert }]),
  );
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    injector.injectConnection(socket);
  });
  listener.maxConnections = connectionsThatFit(connectionsMax);
  await new Promise<void>((resolve, reject) => {
    listener.once('error', (cause) => {
      server.forceShutdown();
      reject(startError(cause, host, port, '--grpc-port'));
    });
    listener.listen(port, host, resolve);
  });
  const { port: bound } = listener.address() as { readonly port: number };
  return {
    url: `${host.includes(':') ? `[${host}]` : host}:${bound}`,
    connectionsMax: listener.maxConnections,
    get open() {
      return open.count;
    },
    async close(withinMs) {
      const begun = open.count;
      const unbound = new Promise<void>((resolve) => listener.close(() => resolve()));
      const ended = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      let timer: NodeJS.Timeout | undefined;
      const limit = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, withinMs);
      });
      await Promise.race([ended, limit]);
      clearTimeout(timer);
      const dropped = open.count;
      server.forceShutdown();
      for (const socket of sockets) socket.destroy();
      await unbound;
      return { finished: Math.max(0, begun - dropped), dropped };
    },
  };
}

/** Calls that are not answered. */
class OpenCalls {
  count = 0;
}

const asIs = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength);
/** Messages are read by the handlers: what is none is then told as the fault of who sent it. */
const bytesMethod = (path: string): ServiceDefinition[string] => ({
  ...{ path, requestStream: false, responseStream: false },
  ...{ requestSerialize: asIs, requestDeserialize: asIs, responseSerialize: asIs, responseDeserialize: asIs },
});

interface Handling {
  readonly name: string;
  readonly method: Method;
  readonly calls: ModelCalls;
  readonly library: GrpcLibrary;
  readonly open: OpenCalls;
  readonly token: string | undefined;
}

function handlerOf(handling: Handling): UnaryHandler {
  const { name, method, calls, library, open, token } = handling;
  const answered = async (call: UnaryCall): Promise<Uint8Array> => {
    const start = performance.now();
    let model = '';
    let code = 'OK';
    try {
      const [bearer] = call.metadata.get('authorization');
      if (token !== undefined && !bearsToken(bearer?.toString(), token)) throw refusal(401, 'a token is needed');
      const gone = new AbortController();
      call.once('cancelled', () => gone.abort());
      const asked = method(call.request, gone.signal);
      model = asked.model;
      return await asked.answer();
    } catch (error) {
      code = statusNameOf(error);
      throw error;
    } finally {
      calls.counted(model, `grpc.${name}`, code, start);
    }
  };
  return (call, callback) => {
    open.count++;
    answered(call)
      .then(
        (answer) => callback(null, answer),
        (error: unknown) => callback(grpcStatus(library, error)),
      )
      .finally(() => {
        open.count--;
      });
  };
}

/** A request that does not come whole within the time is ended. */
function inTime({ ServerInterceptingCall, Metadata }: GrpcLibrary, ms: number) {
  return (_: unknown, call: ConstructorParameters<typeof ServerInterceptingCall>[0]) => {
    let timer: NodeJS.Timeout | undefined;
    const came = () => clearTimeout(timer);
    const made = new ServerInterceptingCall(call, {
      start(next) {
        const late = refusal(504, `the request did not come within ${ms} ms`);
        timer = setTimeout(() => made.sendStatus(grpcStatus({ Metadata }, late)), ms);
        next({
          onReceiveHalfClose(pass: () => void) {
            came();
            pass();
          },
          onCancel: came,
        });
      },
    });
    return made;
  };
}
