/** @file Bodies of requests: no longer than the limit, JSON, with whole numbers of 64 bits exact. */
import { messageOf } from '../../base/errors.js';
import { withLongNumbers } from '../../data/files/json-rows.js';
import { refusal } from './refusal.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** The object that a request's body says. 413 for one that is too long, 400 for what is no JSON object. */
export async function readBody(request: Request, bytesMax: number): Promise<JsonObject> {
  const text = await readText(request, bytesMax);
  if (text.trim() === '') throw refusal(400, 'the body is empty', { hint: 'send {"instances": [{…}]}' });
  let value: unknown;
  try {
    // What is no JSON ends here; numbers of many digits are read again as texts, which ids may be.
    value = JSON.parse(text);
    const exact = withLongNumbers(text);
    if (exact !== text) value = JSON.parse(exact);
  } catch (cause) {
    throw refusal(400, `the body is no JSON: ${messageOf(cause)}`, { cause });
  }
  if (isObject(value)) return value;
  throw refusal(400, 'the body is no JSON object', { hint: 'send {"instances": [{…}]}' });
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

async function readText(request: Request, bytesMax: number): Promise<string> {
  const told = request.headers.get('content-length');
  if (told !== null && Number(told) > bytesMax) throw tooLong(bytesMax);
  // A length that was told is held to by the server; without one the pieces are counted.
  if (told !== null) return request.text();
  if (request.body === null) return '';
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  const reader = request.body.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    bytes += next.value.length;
    if (bytes > bytesMax) {
      await reader.cancel();
      throw tooLong(bytesMax);
    }
    pieces.push(next.value);
  }
  return Buffer.concat(pieces).toString('utf8');
}

const tooLong = (bytesMax: number) =>
  refusal(413, `the body has more than ${bytesMax} bytes`, { hint: 'send fewer rows at once' });
