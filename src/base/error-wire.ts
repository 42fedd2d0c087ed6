/**
 * @file Errors as plain objects, so that they cross threads with their code, fields and cause.
 *
 * Structured clone keeps the message of an error and drops what programs test.
 */
import { ERROR_MESSAGES, type ErrorCode, type ErrorFields, MonolithError } from './errors.js';

export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: string | undefined;
  readonly fields: ErrorFields | undefined;
  readonly hint: string | undefined;
  readonly cause: WireError | undefined;
  /** Of an AggregateError. */
  readonly errors: readonly WireError[] | undefined;
}

/** A chain of causes that is longer goes round in circles. */
const CAUSES_MAX = 16;

/** Anything that was thrown, as an object that can be posted. */
export function toWireError(thrown: unknown, causesMax = CAUSES_MAX): WireError {
  const inner = (cause: unknown): WireError => toWireError(cause, causesMax - 1);
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const own = error instanceof MonolithError ? error : undefined;
  return {
    name: error.name,
    message: error.message,
    stack: error.stack,
    code: own?.code ?? systemCode(error),
    fields: own === undefined ? undefined : cloneable(own.fields),
    hint: own?.hint,
    cause: error.cause === undefined || causesMax === 0 ? undefined : inner(error.cause),
    errors: error instanceof AggregateError && causesMax > 0 ? error.errors.map(inner) : undefined,
  };
}

/** The error again: a MonolithError if it was one. The stack is that of the thread it was thrown on. */
export function fromWireError(wire: WireError): Error {
  const error = made(wire);
  if (wire.stack !== undefined) error.stack = wire.stack;
  return error;
}

function made({ code, fields, hint, name, message, errors, ...wire }: WireError): Error {
  const cause = wire.cause && fromWireError(wire.cause);
  if (isCode(code)) return new MonolithError(code, fields, { cause, ...(hint !== undefined && { hint }) });
  const options = cause && { cause };
  const error = errors ? new AggregateError(errors.map(fromWireError), message, options) : new Error(message, options);
  return Object.assign(error, { name }, code !== undefined && { code });
}

/** The code of an error of Node.js, such as ENOENT. */
function systemCode(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function isCode(code: string | undefined): code is ErrorCode {
  return code !== undefined && Object.hasOwn(ERROR_MESSAGES, code);
}

/** Fields that cannot be posted are sent as text, so that the error itself always arrives. */
function cloneable(fields: ErrorFields): ErrorFields {
  const simple = (value: unknown): boolean =>
    value === null || (typeof value !== 'object' && typeof value !== 'function');
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, simple(value) ? value : (jsonOf(value) ?? String(value))]),
  );
}

/** Arrays and plain objects survive as they are; what JSON cannot say is left to the caller. */
function jsonOf(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return undefined;
  }
}
