/** @file Runs the cases of a parity file through the handlers of test/parity/modules. */
import { readdirSync } from 'node:fs';
import { messageOf } from '../../src/base/errors.js';
import { type Fields, NotApplicable, type ParityHandler, type ParityHandlers, UnknownKeys } from './case.js';
import { differences } from './compare.js';
import { parityCaseOf } from './read-case.js';

/** `unknown-key` is a failure too: the case says something that its handler does not understand. */
export type Status = 'pass' | 'fail' | 'unknown-key' | 'not-applicable';

export interface Outcome {
  /** Module and case. */
  readonly label: string;
  readonly status: Status;
  /** Why it failed or does not apply. */
  readonly reason: string;
}

/** Handlers of every file of test/parity/modules; two files that claim one module are refused. */
export async function loadHandlers(): Promise<ReadonlyMap<string, ParityHandler>> {
  const folder = new URL('./modules/', import.meta.url);
  const handlers = new Map<string, ParityHandler>();
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.js')) continue;
    const exported = (await import(new URL(file, folder).href)) as { handlers?: ParityHandlers };
    for (const [module, handler] of Object.entries(exported.handlers ?? {})) {
      if (handlers.has(module)) throw new Error(`${file} handles ${module}, which another file handles too`);
      handlers.set(module, handler);
    }
  }
  return handlers;
}

export async function runCase(handlers: ReadonlyMap<string, ParityHandler>, entry: object): Promise<Outcome> {
  const named = entry as Fields;
  const label = `${named.module ?? '?'} ${named.case ?? named.name ?? '?'}`;
  try {
    const parity = parityCaseOf(named);
    const handler = handlers.get(parity.module);
    if (handler === undefined) return { label, status: 'fail', reason: `no handler for module ${parity.module}` };
    const actual = await handler(parity);
    const found = actual === undefined ? [] : differences(actual, parity.expected, parity.tolerance);
    return { label, status: found.length === 0 ? 'pass' : 'fail', reason: found.join('; ') };
  } catch (error) {
    return { label, status: statusOf(error), reason: messageOf(error) };
  }
}

function statusOf(error: unknown): Status {
  if (error instanceof NotApplicable) return 'not-applicable';
  return error instanceof UnknownKeys ? 'unknown-key' : 'fail';
}
