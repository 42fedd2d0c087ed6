/**
 * @file Where a trace is written to: a check before the run, and a text file that appears whole or not at all.
 */
import { access, constants, open, realpath, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { MonolithError, messageOf } from '../base/errors.js';
import { replaceFile } from '../base/files/atomic-file.js';
import { temporaryName } from '../base/files/temporary-names.js';

const CHUNK_CHARS = 1 << 16;

const HINTS: Readonly<Record<string, string>> = {
  ENOENT: 'make the folder first, or name a file in one that exists',
  ENOTDIR: 'a part of the path is a file; name a file inside a folder',
  EISDIR: 'name a file, for example trace.json inside that folder',
  EACCES: 'name a file in a folder you may write to',
  EPERM: 'name a file in a folder you may write to',
  EROFS: 'that file system is read-only; name a file elsewhere',
  ENOSPC: 'free some space, or name a file on another disk',
  EDQUOT: 'the quota is used up; free some space or name a file elsewhere',
  ENAMETOOLONG: 'use a shorter name',
};

/**
 * Fails with ML_TRACE_WRITE if `file` could not be written now; leaves nothing behind and an older trace untouched.
 *
 * ```ts
 * await checkTraceTarget('runs/trace.json');
 * ```
 */
export async function checkTraceTarget(file: string): Promise<void> {
  const target = await resolveTarget(file);
  // Asking for permission is not enough (full quotas, odd file systems): a file is really made.
  const temporary = temporaryName(target);
  try {
    await (await open(temporary, 'wx')).close();
  } catch (cause) {
    throw writeError(file, cause);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Writes the strings of `parts` to `file`, a buffer at a time. A failure leaves what was there before. */
export async function writeTraceFile(file: string, parts: Iterable<string>): Promise<void> {
  const target = await resolveTarget(file);
  const encoder = new TextEncoder();
  await replaceFile(
    target,
    async (sink) => {
      for (const text of chunks(parts)) await sink.write(encoder.encode(text));
    },
    { errorOf: (_path, cause) => writeError(file, cause) },
  );
}

function* chunks(parts: Iterable<string>): Generator<string> {
  let pending: string[] = [];
  let chars = 0;
  for (const part of parts) {
    pending.push(part);
    chars += part.length;
    if (chars < CHUNK_CHARS) continue;
    yield pending.join('');
    pending = [];
    chars = 0;
  }
  yield pending.join('');
}

/** The path to replace: links are followed, and only a plain file may be in the way. */
async function resolveTarget(file: string): Promise<string> {
  if (file === '') throw new MonolithError('ML_TRACE_WRITE', { file, reason: 'the name is empty' });
  try {
    const found = await stat(file).catch(unlessMissing);
    if (found === undefined) return resolve(file);
    if (found.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
    if (!found.isFile()) throw new Error('it is not a plain file');
    await access(file, constants.W_OK);
    return await realpath(file);
  } catch (cause) {
    throw writeError(file, cause);
  }
}

function unlessMissing(cause: unknown): undefined {
  if (codeOf(cause) === 'ENOENT') return undefined;
  throw cause;
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
}

function writeError(file: string, cause: unknown): MonolithError {
  if (cause instanceof MonolithError) return cause;
  const hint = HINTS[codeOf(cause)] ?? 'name another file';
  return new MonolithError('ML_TRACE_WRITE', { file, reason: messageOf(cause) }, { hint, cause });
}
