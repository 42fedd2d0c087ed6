/** @file Errors of requests, and what a client is told of them: a status, a sentence, a code. */
import { type ErrorCode, MonolithError, messageOf } from '../../base/errors.js';

export interface RefusalOptions {
  readonly hint?: string | undefined;
  readonly retryAfterSec?: number;
  readonly cause?: unknown;
}

/** ML_REQUEST, which a client is told of with this status. */
export function refusal(status: number, reason: string, options: RefusalOptions = {}): MonolithError {
  const { hint, retryAfterSec, cause } = options;
  return new MonolithError(
    'ML_REQUEST',
    { status, reason, ...(retryAfterSec !== undefined && { retryAfterSec }) },
    { ...(hint !== undefined && { hint }), ...(cause !== undefined && { cause }) },
  );
}

/** Codes that are the fault of who asks. */
const BAD_REQUESTS: ReadonlySet<ErrorCode> = new Set([
  'ML_DATA',
  'ML_COLUMN',
  'ML_FEED',
  'ML_ID_TYPE',
  'ML_TABLE_UNKNOWN',
  'ML_PROTO',
] as const);

/** The status that stands for an error. */
export function statusOf(error: unknown): number {
  if (!(error instanceof MonolithError)) return 500;
  if (error.code === 'ML_REQUEST') return Number(error.fields.status);
  if (BAD_REQUESTS.has(error.code)) return 400;
  return error.code === 'ML_CLOSED' ? 503 : 500;
}

/** The answer to a request that failed. */
export function refusalResponse(error: unknown): Response {
  const status = statusOf(error);
  const { code = 'ML_INTERNAL', hint, fields = {} } = error instanceof MonolithError ? error : {};
  const said = messageOf(error);
  const body = JSON.stringify({ error: hint === undefined ? said : `${said}; ${hint}`, code });
  const headers = new Headers({ 'content-type': 'application/json' });
  if (fields.retryAfterSec !== undefined) headers.set('retry-after', String(fields.retryAfterSec));
  // The rest of a body that was not read would stand before the next request.
  if (status === 413 || status === 408) headers.set('connection', 'close');
  if (status === 401) headers.set('www-authenticate', 'Bearer');
  return new Response(body, { status, headers });
}
