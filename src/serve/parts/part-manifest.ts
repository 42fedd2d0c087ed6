/** @file `part.json`: which part of an export a folder is, and what it answers. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MonolithError, messageOf } from '../../base/errors.js';
import { readWhole } from '../../base/files/read-file.js';

export const PART_FILE = 'part.json';
const FORMAT = 'monolith-part';
/** Servers of an export, at the most. */
export const SERVERS_MAX = 4096;

export interface PartTensor {
  readonly dtype: 'string' | 'int64' | 'float32';
  /** -1: any number. */
  readonly shape: readonly number[];
}

export interface PartSignature {
  readonly inputs: Readonly<Record<string, PartTensor>>;
  readonly outputs: Readonly<Record<string, PartTensor>>;
}

export interface PartManifest {
  readonly format: typeof FORMAT;
  readonly version: 1;
  /** `entry`, `ps_0`, …, `dense_0`. */
  readonly part: string;
  /** Servers that the rows are spread over: an id is of the one of its floorMod. */
  readonly servers: number;
  /** Whether variables are in the part dense_0 and not in the entry. */
  readonly remoteDense: boolean;
  /** Whether there are no rows of this version: those of the newest version that has them are looked up. */
  readonly denseOnly: boolean;
  readonly globalStep: number | null;
  readonly signatures: Readonly<Record<string, PartSignature>>;
}

export const partText = (manifest: Omit<PartManifest, 'format' | 'version'>): string =>
  `${JSON.stringify({ format: FORMAT, version: 1, ...manifest }, null, 2)}\n`;

/** What a folder says of itself; null of one that is a whole model. ML_MODEL for a text that is none. */
export function readPart(dir: string): PartManifest | null {
  const file = join(dir, PART_FILE);
  if (!existsSync(file)) return null;
  const refuse = (reason: string, cause?: unknown) => new MonolithError('ML_MODEL', { model: file, reason }, { cause });
  let found: Partial<PartManifest> | null;
  try {
    found = JSON.parse(readWhole(file, 'stateBytes').toString('utf8')) as Partial<PartManifest> | null;
  } catch (cause) {
    throw refuse(messageOf(cause), cause);
  }
  if (found?.format !== FORMAT || found.version !== 1) throw refuse('it is of no part that this version knows');
  const { part, servers, remoteDense, denseOnly } = found;
  if (typeof part !== 'string') throw refuse('it names no part');
  if (!(Number.isInteger(servers) && servers! >= 1 && servers! <= SERVERS_MAX)) {
    throw refuse(`${String(servers)} is no number of servers up to ${SERVERS_MAX}`);
  }
  if (typeof remoteDense !== 'boolean' || typeof denseOnly !== 'boolean') throw refuse('it does not say what is where');
  return found as PartManifest;
}
