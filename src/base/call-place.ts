/**
 * @file Where in the user's own code something was asked for: the nearest stack frame outside of packages.
 *
 * Taking a place costs some tens of microseconds, since the engine only notes the frames; the text is made when an
 * error or a description of the graph asks for it. With --enable-source-maps it speaks of the source the user wrote.
 */
import { isAbsolute, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Enough to get out of a layer in a layer; what is deeper has no place. */
const FRAMES_MAX = 40;

/** Folders of this package's own code: as built, the chunks of that, and as source maps name it. */
const OWN = ['../', '../../chunks/', '../../../src/'].map((folder) => fileURLToPath(new URL(folder, import.meta.url)));

export class CallPlace {
  #frames: { readonly stack?: string } | undefined = {};
  #text: string | undefined;

  constructor() {
    const limit = Error.stackTraceLimit;
    // Where the intrinsics are frozen the assignment is refused, and the limit there is has to do.
    Reflect.set(Error, 'stackTraceLimit', FRAMES_MAX);
    Error.captureStackTrace(this.#frames!, CallPlace);
    Reflect.set(Error, 'stackTraceLimit', limit);
  }

  /** `models/ranker.ts:12:5`, relative to the working directory where it is below it; undefined outside user code. */
  get text(): string | undefined {
    if (this.#frames !== undefined) {
      this.#text = placeOf(this.#frames.stack ?? '');
      this.#frames = undefined;
    }
    return this.#text;
  }
}

/** The first place of a stack that is no code of this package, of another that is installed, or of Node. */
export function placeOf(stack: string): string | undefined {
  for (const line of stack.split('\n')) {
    const [, file, position] = /^\s+at (?:.*? \((?=.*\)$)|async )?(.+?):(\d+:\d+)\)?$/.exec(line) ?? [];
    if (file === undefined || file.startsWith('node:') || file.startsWith('eval at ')) continue;
    const path = pathOf(file);
    if (path !== undefined && !isForeign(path)) return `${shorten(path)}:${position}`;
  }
  return undefined;
}

function isForeign(path: string): boolean {
  return OWN.some((folder) => path.startsWith(folder)) || path.split(sep).includes('node_modules');
}

function pathOf(file: string): string | undefined {
  if (file.startsWith('file://')) return fileURLToPath(file);
  return isAbsolute(file) ? file : undefined;
}

function shorten(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') || isAbsolute(short) ? path : short.split(sep).join('/');
}

/** Errors whose callers were looked up: one may be thrown again by every later call. */
const withCallers = new WeakSet<Error>();

/**
 * Adds to the stack of an error who awaits the call that fails, for errors that were made where nobody knows. Called in
 * the `catch` of an async function: the engine finds the callers by their promises, and only then, so calls that work
 * cost nothing.
 */
export function withCaller(error: unknown): unknown {
  if (!(error instanceof Error) || withCallers.has(error)) return error;
  withCallers.add(error);
  const here: { stack?: string } = {};
  Error.captureStackTrace(here, withCaller);
  const { stack = '' } = error;
  const known = new Set(stack.split('\n'));
  const callers = (here.stack ?? '').split('\n').slice(1);
  const news = callers.filter((line) => !known.has(line));
  if (news.length > 0)
    Object.defineProperty(error, 'stack', { value: [stack, ...news].join('\n'), configurable: true, writable: true });
  return error;
}
