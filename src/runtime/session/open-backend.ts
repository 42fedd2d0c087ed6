/** @file Opens the backend that a session is to have. */
import { MonolithError } from '../../base/errors.js';
import type { OpenBackend } from '../backends/backend.js';
import {
  AUTO,
  BACKEND_NAMES,
  type BackendName,
  type BackendOptions,
  loadBackend,
  misplacedOptions,
} from '../pool/load-backend.js';

export interface OpenedBackend {
  readonly name: BackendName;
  readonly opened: OpenBackend;
  /** Why it is this one, where `auto` chose; null when it was asked for by name. */
  readonly why: string | null;
}

/** `auto` takes the first that this machine can run. */
export async function openBackend(options: BackendOptions): Promise<OpenedBackend> {
  const { backend: asked = 'wasm' } = options;
  if (asked !== 'auto' && !BACKEND_NAMES.includes(asked)) {
    const reason = `${asked as string} is none of ${BACKEND_NAMES.join(', ')}, auto`;
    throw new MonolithError('ML_FLAG', { flag: 'backend', reason });
  }
  const found = asked === 'auto' ? await firstOf(AUTO, options) : await openNamed(asked, options);
  for (const other of misplacedOptions(found.name, options)) {
    const misplaced = (await loadBackend(other)).misplaced?.(found.name);
    if (misplaced !== undefined) throw misplaced;
  }
  return found;
}

async function openNamed(name: BackendName, options: BackendOptions): Promise<OpenedBackend> {
  const opened = (await loadBackend(name)).open(options);
  if (opened instanceof MonolithError) throw opened;
  return { name, opened, why: null };
}

/**
 * The first that opens, or the error of the last; `passedOver` are those before, each with what keeps it from running.
 */
async function firstOf(
  [name, ...rest]: readonly BackendName[],
  options: BackendOptions,
  passedOver: readonly string[] = [],
): Promise<OpenedBackend> {
  const opened = (await loadBackend(name!)).open(options);
  if (opened instanceof MonolithError) {
    if (rest.length === 0) throw opened;
    return firstOf(rest, options, [...passedOver, `${name} cannot run here: ${opened.message}`]);
  }
  const why = passedOver.length === 0 ? `${opened.device} can run it` : passedOver.join('; ');
  return { name: name!, opened, why };
}
