/** @file Runs the cases of a parity file through the handlers of test/parity/modules. */
import { readdirSync, readFileSync } from 'node:fs';
import { messageOf } from '../../src/base/errors.js';
import { NotApplicable, type ParityCase, type ParityHandler, type ParityHandlers } from './case.js';
import { differences } from './compare.js';

export type Status = 'pass' | 'fail' | 'not-applicable';

export interface Outcome {
  readonly parity: ParityCase;
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

export function readCases(path: string | URL): readonly ParityCase[] {
  const cases: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!Array.isArray(cases)) throw new Error('a parity file is a list of cases');
  return cases.map((item: Partial<ParityCase>, i) => {
    if (typeof item?.module !== 'string' || typeof item.case !== 'string') {
      throw new Error(`entry ${i} has no module and case`);
    }
    return item as ParityCase;
  });
}

export async function runCase(handlers: ReadonlyMap<string, ParityHandler>, parity: ParityCase): Promise<Outcome> {
  const handler = handlers.get(parity.module);
  if (handler === undefined) return { parity, status: 'fail', reason: `no handler for module ${parity.module}` };
  try {
    const actual = await handler(parity);
    const found = actual === undefined ? [] : differences(actual, parity.expected, parity.tolerance);
    return { parity, status: found.length === 0 ? 'pass' : 'fail', reason: found.join('; ') };
  } catch (error) {
    return { parity, status: error instanceof NotApplicable ? 'not-applicable' : 'fail', reason: messageOf(error) };
  }
}
