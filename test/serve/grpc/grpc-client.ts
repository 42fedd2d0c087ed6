/** @file A client of @grpc/grpc-js, from the npm registry when it is first asked for. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { npmPackage } from '../../support/npm-package.js';

const NAME = '@grpc/grpc-js';

export interface GrpcError extends Error {
  readonly code: number;
  readonly details: string;
  readonly metadata: { get(key: string): readonly string[] };
}
interface Metadata {
  set(key: string, value: string): void;
}
type Pass = (bytes: Uint8Array) => Buffer;
export interface GrpcClient {
  makeUnaryRequest(
    ...call: [
      path: string,
      serialize: Pass,
      deserialize: Pass,
      request: Uint8Array,
      metadata: Metadata,
      options: object,
    ]
  ): void;
  makeClientStreamRequest(
    ...call: [
      path: string,
      serialize: Pass,
      deserialize: Pass,
      metadata: Metadata,
      options: object,
      done: (error: GrpcError) => void,
    ]
  ): void;
  close(): void;
}
export interface GrpcPackage {
  /** The folder whose node_modules it is in. */
  readonly folder: string;
  readonly Client: new (target: string, credentials: object, options?: object) => GrpcClient;
  readonly Metadata: new () => Metadata;
  readonly credentials: { createInsecure(): object; createSsl(roots: Buffer): object };
}

/** The package, or why it cannot be had. */
export async function getGrpc(): Promise<GrpcPackage | string> {
  const found = await npmPackage(NAME, '1.14.7');
  if ('reason' in found) return found.reason;
  return {
    folder: found.folder,
    ...(createRequire(join(found.folder, 'package.json'))(NAME) as Omit<GrpcPackage, 'folder'>),
  };
}

const asIs: Pass = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Sends a message and gives the answer, both as bytes. */
export function unary(
  { Metadata }: GrpcPackage,
  client: GrpcClient,
  path: string,
  request: Uint8Array,
  { token, ...options }: { readonly token?: string; readonly deadline?: number } = {},
): Promise<Uint8Array> {
  const metadata = new Metadata();
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`);
  return new Promise((resolve, reject) => {
    const done = (error: GrpcError | null, answer?: Uint8Array) => (error === null ? resolve(answer!) : reject(error));
    const call = [path, asIs, asIs, request, metadata, options, done] as unknown as Parameters<
      GrpcClient['makeUnaryRequest']
    >;
    client.makeUnaryRequest(...call);
  });
}

/** Begins a request and does not send it; ends with the status the server gives. */
export function begun({ Metadata }: GrpcPackage, client: GrpcClient, path: string): Promise<GrpcError> {
  return new Promise((resolve) => {
    client.makeClientStreamRequest(path, asIs, asIs, new Metadata(), {}, resolve);
  });
}
