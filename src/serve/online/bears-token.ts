/** @file Whether who asks has brought the token. */
import { timingSafeEqual } from 'node:crypto';

/** Compares what an `authorization` header says; it takes as long for a wrong token as for the right one. */
export function bearsToken(header: string | undefined, token: string): boolean {
  const [given, wanted] = [Buffer.from(header ?? ''), Buffer.from(`Bearer ${token}`)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
