/** @file A model directory and table files to inspect, and the command run in this process. */
import { join } from 'node:path';
import type { Test } from 'tap';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import type { TableSegment } from '../../src/checkpoint/snapshot.js';
import { runProgram } from '../../src/cli/program.js';
import { EntryDumpCodec } from '../../src/io/entry-dump.js';
import { quick, sampleSnapshot } from '../checkpoint/helpers.js';
import { FakeIo } from './fake-io.js';

export const USER = 'MonolithHashTable_user:0/x';
/** Bytes of a row of that table on disk. */
export const RECORD = 76;
export const USER_FILE = 'MonolithHashTable_user-0-x-00000-of-00001';

export async function inspect(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = new FakeIo();
  const code = await runProgram(['inspect', ...args], io);
  return { code, out: io.out.text, err: io.err.text };
}

export const fieldsOf = async (...args: string[]) => JSON.parse((await inspect(...args, '--json')).out);

/** A model directory with checkpoints of steps 10 and 20. */
export async function makeModelDir(t: Test): Promise<string> {
  const dir = join(t.testdir(), 'm');
  await saveCheckpoint(dir, sampleSnapshot(10), quick());
  await saveCheckpoint(dir, sampleSnapshot(20, 5), quick());
  return dir;
}

/** Rows of a table as payloads; weights and state count up from `base`. */
export function payloadsOf(
  segments: readonly TableSegment[],
  ids: readonly bigint[],
  timeSec = 1_700_000_000,
): Uint8Array[] {
  const codec = new EntryDumpCodec(segments);
  return ids.map((id, i) => {
    const row = { ...codec.makeRow(), id, lastUpdateSec: timeSec + i };
    row.weights.forEach((_, k) => {
      row.weights[k] = i + k / 8;
    });
    row.state.forEach((_, k) => {
      row.state[k] = 100 + i + k / 8;
    });
    const bytes = new Uint8Array(codec.maxBytes);
    return bytes.slice(0, codec.encode(row, bytes, new DataView(bytes.buffer), 0));
  });
}
