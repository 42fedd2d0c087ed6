/**
 * @file Measures saves and restores of a table: `npm run bench -- save [--rows 10000000 --quick --json]`.
 *
 * Adagrad rows of dimension 16 against plain writes and reads of as many bytes through buffers of the same size, in
 * turns within one run. Saves have two clocks: one stops before the files are forced to disk, the other after. Restores
 * have two conditions, each beside a plain read under the same one: files in the page cache, and files that were
 * dropped from it, so that they come from the disk (left out, and said so, where the machine cannot drop them). From
 * the page cache there is a second plain side: one drops what it reads into the same buffer again and again, the other
 * keeps it in new memory, as a restore must. A share is plain time divided by ours, so that 1 is as fast as plain
 * bytes. Restores go into an empty table; memory that no row was ever in costs page faults, which is what the first
 * round shows. Resident growth is sampled during saves.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TableMemory } from '../src/runtime/tables/table-memory.js';
import { AdagradOptimizer } from '../src/sparse/config/optimizers.js';
import { defineTable } from '../src/sparse/config/table-config.js';
import { restoreTable } from '../src/sparse/files/restore-table.js';
import { saveTable } from '../src/sparse/files/save-table.js';
import { BUFFER_BYTES } from '../src/sparse/files/shard-encoder.js';
import { READ_BUFFER_BYTES } from '../src/sparse/files/shard-loader.js';
import { HashTable } from '../src/sparse/table/hash-table.js';
import { dropCache } from './drop-cache.js';
import { benchMain, type Machine, machine, machineText, median, table as textTable } from './harness.js';

const DIM = 16;
const CHUNK = 65536;
const SAMPLE_MS = 10;
const BARS = { share: 0.6, growthMiB: 64 } as const;

interface Clock {
  readonly ms: number;
  /** Of all threads of this process. */
  readonly cpuMs: number;
}

interface Round {
  readonly save: Clock;
  readonly plainWrite: Clock;
  readonly saveSynced: Clock;
  readonly plainWriteSynced: Clock;
  readonly restore: Clock;
  readonly plainRead: Clock;
  /** Into memory as large as the files. */
  readonly plainReadKept: Clock;
  /** From the disk; null when the files could not be dropped from memory. */
  readonly restoreCold: Clock | null;
  readonly plainReadCold: Clock | null;
}

type Share = 'save' | 'saveSynced' | 'restore' | 'restoreKept' | 'restoreCold';

export interface SaveReport extends Machine {
  readonly rows: number;
  readonly bytes: number;
  readonly files: number;
  readonly rounds: readonly Round[];
  /** Medians over rounds of plain time over ours; accepted are 0.6 and more. */
  readonly shares: Readonly<Record<Share, number | null>>;
  /** The same by CPU time, which others on the machine disturb less, with all threads added up. */
  readonly cpuShares: Readonly<Record<Share, number | null>>;
  /** Why there is no cold side, or null. */
  readonly coldSkipped: string | null;
  /** Resident memory at the most during saves over what it was before; accepted are 64 and less. */
  readonly growthMiB: number;
  readonly bars: typeof BARS;
}

export async function runSaveBench({ quick, rows }: { quick: boolean; rows?: number }): Promise<SaveReport> {
  const count = rows ?? (quick ? 20_000 : 10_000_000);
  const memory = await TableMemory.create({ budgetBytes: Math.max(32 << 20, count * 176 * 2 + (256 << 20)) });
  const config = (name: string) => defineTable(name, [{ dim: DIM, optimizer: AdagradOptimizer() }]);
  const [source, target] = [HashTable.create(memory, config('source')), HashTable.create(memory, config('target'))];
  fill(source, count);
  const dir = mkdtempSync(join(tmpdir(), 'bench-save-'));
  try {
    // The first calls run baseline code.
    await saveTable(source, join(dir, 'warm'), { sync: false });
    rmSync(dir, { recursive: true });
    await mkdir(dir);
    let growthBytes = 0;
    let saved = { bytes: 0, files: [] as readonly string[] };
    let coldSkipped: string | null = null;
    const rounds: Round[] = [];
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      const base = join(dir, 'table');
      const before = process.memoryUsage.rss();
      const sampler = setInterval(() => {
        growthBytes = Math.max(growthBytes, process.memoryUsage.rss() - before);
      }, SAMPLE_MS);
      const save = await timed(async () => {
        saved = await saveTable(source, base, { sync: false });
      });
      clearInterval(sampler);
      const restore = await timed(() => restoreTable(target, base));
      if (target.size !== source.size) throw new Error(`restored ${target.size} of ${source.size} rows`);
      const plainRead = await timed(() => readPlain(saved.files, false));
      const plainReadKept = await timed(() => readPlain(saved.files, true));
      const cold = async (action: () => Promise<unknown>) => {
        coldSkipped ??= await dropCache(saved.files);
        return coldSkipped === null ? timed(action) : null;
      };
      target.clear();
      // Whoever reads first pays for page cache that the host may have taken back; neither side shall.
      await cold(() => readPlain(saved.files, false));
      const restoreCold = await cold(() => restoreTable(target, base));
      const plainReadCold = await cold(() => readPlain(saved.files, false));
      target.clear();
      const plain = join(dir, 'plain');
      const plainWrite = await timed(() => writePlain(plain, saved.bytes, saved.files.length, false));
      await removeAll(dir);
      const saveSynced = await timed(() => saveTable(source, base));
      await removeAll(dir);
      const plainWriteSynced = await timed(() => writePlain(plain, saved.bytes, saved.files.length, true));
      await removeAll(dir);
      rounds.push({
        ...{ save, plainWrite, saveSynced, plainWriteSynced },
        ...{ restore, plainRead, plainReadKept, restoreCold, plainReadCold },
      });
    }
    const shareOf = (ours: keyof Round, plain: keyof Round, clock: keyof Clock) => {
      const shares = rounds.flatMap((r) => r[plain] && r[ours] && r[plain][clock] / r[ours][clock]);
      return shares.includes(null) ? null : median(shares.filter((share) => share !== null));
    };
    const share = (clock: keyof Clock) => ({
      save: shareOf('save', 'plainWrite', clock),
      saveSynced: shareOf('saveSynced', 'plainWriteSynced', clock),
      restore: shareOf('restore', 'plainRead', clock),
      restoreKept: shareOf('restore', 'plainReadKept', clock),
      restoreCold: shareOf('restoreCold', 'plainReadCold', clock),
    });
    return {
      ...machine(),
      ...{ rows: count, bytes: saved.bytes, files: saved.files.length, rounds },
      ...{ shares: share('ms'), cpuShares: share('cpuMs'), growthMiB: growthBytes / 2 ** 20, bars: BARS },
      coldSkipped,
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function fill(table: HashTable, count: number): void {
  const ids = new BigInt64Array(CHUNK);
  const values = new Float32Array(CHUNK * DIM);
  for (let begin = 0; begin < count; begin += CHUNK) {
    const length = Math.min(CHUNK, count - begin);
    for (let i = 0; i < length; i++) {
      ids[i] = BigInt.asIntN(64, BigInt(begin + i) * 0x9e3779b97f4a7c15n);
      values.fill(Math.fround(1 / (begin + i + 1)), i * DIM, (i + 1) * DIM);
    }
    table.assign(ids.subarray(0, length), values.subarray(0, length * DIM), { timeSec: 1_700_000_000 });
  }
}

async function timed(action: () => Promise<unknown>): Promise<Clock> {
  const cpu = process.cpuUsage();
  const begin = performance.now();
  await action();
  const ms = performance.now() - begin;
  const { user, system } = process.cpuUsage(cpu);
  return { ms, cpuMs: (user + system) / 1000 };
}

async function writePlain(base: string, bytes: number, files: number, sync: boolean): Promise<void> {
  const buffer = new Uint8Array(BUFFER_BYTES).fill(7);
  for (let file = 0; file < files; file++) {
    const handle = await open(`${base}-${file}`, 'wx');
    for (let left = Math.floor(bytes / files); left > 0; left -= buffer.length) {
      await handle.write(buffer, 0, Math.min(left, buffer.length));
    }
    if (sync) await handle.sync();
    await handle.close();
  }
}

async function readPlain(files: readonly string[], keep: boolean): Promise<void> {
  const kept: Uint8Array[] = [];
  for (const file of files) {
    const handle = await open(file, 'r');
    const { size } = await handle.stat();
    const buffer = new Uint8Array(keep ? size + READ_BUFFER_BYTES : READ_BUFFER_BYTES);
    for (let at = 0, got = -1; got !== 0; at += keep ? got : 0) {
      ({ bytesRead: got } = await handle.read(buffer, at, READ_BUFFER_BYTES, null));
    }
    await handle.close();
    if (keep) kept.push(buffer);
  }
}

/** Leaves an empty directory: what the last case wrote is not to be written back during the next. */
async function removeAll(dir: string): Promise<void> {
  rmSync(dir, { recursive: true });
  await mkdir(dir);
}

function text(report: SaveReport): string {
  const perSec = ({ ms }: Clock) => `${(report.bytes / ms / 1e6).toFixed(2)} GB/s`;
  const rows = [
    ['save', 'plainWrite'],
    ['saveSynced', 'plainWriteSynced'],
    ['restore', 'plainRead'],
    ['restore', 'plainReadKept'],
    ['restoreCold', 'plainReadCold'],
  ] as const;
  const lines = rows.flatMap(([ours, plain]) =>
    report.rounds.flatMap((round, index) => {
      const [our, other] = [round[ours], round[plain]];
      if (our === null || other === null) return [];
      const cpu = [our, other].map(({ cpuMs }) => `${cpuMs.toFixed(0)} ms`);
      return [[`${ours} / ${plain} ${index + 1}`, perSec(our), perSec(other), (other.ms / our.ms).toFixed(2), ...cpu]];
    }),
  );
  const { save, saveSynced, restore, restoreKept, restoreCold } = report.shares;
  const shown = (share: number | null) => share?.toFixed(2) ?? 'not measured';
  return [
    `${machineText(report)}; ${report.rows} rows, ${(report.bytes / 1e9).toFixed(2)} GB in ${report.files} files`,
    textTable(['round', 'ours', 'plain', 'share', 'our CPU', 'plain CPU'], lines),
    `shares (wanted ${BARS.share}): save ${shown(save)}, synced ${shown(saveSynced)}`,
    `restore from the page cache ${shown(restore)}, beside a read that keeps ${shown(restoreKept)}; ` +
      `from the disk ${shown(restoreCold)}`,
    ...(report.coldSkipped === null ? [] : [`NO READS FROM THE DISK: ${report.coldSkipped}`]),
    `resident growth while saving: ${report.growthMiB.toFixed(1)} MiB (wanted below ${BARS.growthMiB})`,
  ].join('\n');
}

const rowsFlag = process.argv.indexOf('--rows');
const rows = rowsFlag < 0 ? undefined : Number(process.argv[rowsFlag + 1]);
await benchMain(import.meta.url, ({ quick }) => runSaveBench({ quick, ...(rows === undefined ? {} : { rows }) }), text);
