/** @file How calls end that have no answer: the status of gRPC that stands for an error. */
import { MonolithError, messageOf } from '../../base/errors.js';
import { statusOf } from '../online/refusal.js';
import type { GrpcLibrary, GrpcStatus } from './grpc-library.js';

/** Numbers of the statuses that are used. */
export const STATUS = {
  OK: 0,
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;
export type StatusName = keyof typeof STATUS;

/** By the status of HTTP of the same error. Who is to ask again is told UNAVAILABLE: clients do so by themselves. */
const OF_HTTP: Readonly<Record<number, StatusName>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  404: 'NOT_FOUND',
  412: 'FAILED_PRECONDITION',
  413: 'RESOURCE_EXHAUSTED',
  429: 'UNAVAILABLE',
  499: 'CANCELLED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** Trailers have little room, and what is told may quote the request. */
const DETAILS_MAX = 1000;

export const statusNameOf = (error: unknown): StatusName => OF_HTTP[statusOf(error)] ?? 'INTERNAL';

/** The status that a client sees: with the code of the error, and when to ask again. */
export function grpcStatus({ Metadata }: Pick<GrpcLibrary, 'Metadata'>, error: unknown): GrpcStatus {
  const { code = 'ML_INTERNAL', hint, fields = {} } = error instanceof MonolithError ? error : {};
  const said = messageOf(error);
  const metadata = new Metadata();
  metadata.set('monolith-code', code);
  if (fields.retryAfterSec !== undefined) metadata.set('retry-after', String(fields.retryAfterSec));
  const details = (hint === undefined ? said : `${said}; ${hint}`).slice(0, DETAILS_MAX);
  return { code: STATUS[statusNameOf(error)], details, metadata };
}
