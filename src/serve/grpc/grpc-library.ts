/** @file What is used of @grpc/grpc-js: no dependency, so its types are written down here. */
import type { Duplex } from 'node:stream';
import { MonolithError } from '../../base/errors.js';
import { loadPeer } from '../../base/load-peer.js';

export interface Metadata {
  get(key: string): readonly (string | Uint8Array)[];
  set(key: string, value: string): void;
}

/** How a call ends that has no answer. */
export interface GrpcStatus {
  readonly code: number;
  readonly details: string;
  readonly metadata?: Metadata;
}

/** A call with one request and one answer, both as bytes. */
export interface UnaryCall {
  readonly request: Uint8Array;
  readonly metadata: Metadata;
  readonly cancelled: boolean;
  once(event: 'cancelled', listener: () => void): void;
}
export type UnaryHandler = (call: UnaryCall, callback: (error: GrpcStatus | null, answer?: Uint8Array) => void) => void;

interface MethodDefinition {
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  readonly requestSerialize: (bytes: Uint8Array) => Buffer;
  readonly requestDeserialize: (bytes: Uint8Array) => Uint8Array;
  readonly responseSerialize: (bytes: Uint8Array) => Buffer;
  readonly responseDeserialize: (bytes: Uint8Array) => Uint8Array;
}
export type ServiceDefinition = Readonly<Record<string, MethodDefinition>>;

interface ServerCall {
  sendStatus(status: GrpcStatus): void;
}
interface Responder {
  start(next: (listener: object) => void): void;
}
interface Credentials {
  readonly isSecure?: boolean;
}
export interface GrpcServer {
  addService(definition: ServiceDefinition, handlers: Readonly<Record<string, UnaryHandler>>): void;
  createConnectionInjector(credentials: Credentials): { injectConnection(connection: Duplex): void };
  tryShutdown(done: (error?: Error) => void): void;
  forceShutdown(): void;
}
export interface GrpcLibrary {
  readonly Server: new (options: Readonly<Record<string, unknown>>) => GrpcServer;
  readonly Metadata: new () => Metadata;
  readonly ServerInterceptingCall: new (call: ServerCall, responder: Partial<Responder>) => ServerCall;
  readonly ServerCredentials: {
    createInsecure(): Credentials;
    createSsl(
      roots: null,
      pairs: readonly { readonly private_key: Buffer; readonly cert_chain: Buffer }[],
    ): Credentials;
  };
}

const NAME = '@grpc/grpc-js';

/** The package; ML_PEER where it is missing, or older than what is used of it. */
export async function loadGrpc(): Promise<GrpcLibrary> {
  const what = 'serving gRPC';
  const { default: library } = await loadPeer<{ readonly default: GrpcLibrary }>(NAME, what);
  if (typeof library?.Server?.prototype?.createConnectionInjector === 'function') return library;
  const reason = 'it is older than 1.13';
  throw new MonolithError('ML_PEER', { what, name: NAME, reason }, { hint: `npm install ${NAME}@latest` });
}
