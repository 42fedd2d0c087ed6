/**
 * @file Small snapshots, directory comparison and a file system that fails on order.
 */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type FileSystem, nodeFileSystem } from '../../src/base/files/file-system.js';
import { isTemporaryName } from '../../src/base/files/temporary-names.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import type { DenseValue, Snapshot, TableRow, TableSegment, TableSnapshot } from '../../src/checkpoint/snapshot.js';
import { stateCountOf, weightCountOf } from '../../src/io/optimizer-dump.js';

export function makeTable(name: string, segments: readonly TableSegment[], rows: readonly TableRow[]): TableSnapshot {
  return { name, segments, rowCount: rows.length, rows: () => rows };
}

/** A small model whose values depend on the step, so that two steps never look alike. */
export function sampleSnapshot(step: number, rowCount = 3): Snapshot {
  const segments: TableSegment[] = [
    { dim: 1, optimizer: 'ftrl' },
    { dim: 2, optimizer: 'adagrad' },
  ];
  const rows = Array.from({ length: rowCount }, (_, i) => ({
    id: (-1n) ** BigInt(i) * (2n ** 62n + BigInt(i)),
    weights: Float32Array.from({ length: weightCountOf(segments) }, (_, k) => step + i + k / 8),
    state: Float32Array.from({ length: stateCountOf(segments) }, (_, k) => step - i - k / 8),
    lastUpdateSec: 1_700_000_000 + i,
  }));
  const dense: DenseValue[] = [
    { name: 'w', dtype: 'float32', shape: [2, 2], data: Float32Array.of(step, 1, 2, 3) },
    { name: 'b', dtype: 'float32', shape: [], data: Float32Array.of(-step) },
    { name: 'n', dtype: 'int64', shape: [1], data: BigInt64Array.of(2n ** 60n) },
    { name: 'k', dtype: 'int32', shape: [0], data: new Int32Array(0) },
  ];
  const bias: TableRow = { id: 7n, weights: Float32Array.of(1.5), state: new Float32Array(0), lastUpdateSec: 0 };
  return {
    step,
    modelName: 'ffm',
    dense,
    tables: [
      makeTable('MonolithHashTable_user:0/x', segments, rows),
      makeTable('MonolithHashTable_bias', [{ dim: 1, optimizer: 'sgd' }], [bias]),
    ],
  };
}

/** Everything a snapshot holds, in plain values that compare. */
export function contentOf(snapshot: Snapshot): unknown {
  return {
    step: snapshot.step,
    modelName: snapshot.modelName,
    dense: [...snapshot.dense]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, dtype, shape, data }) => ({ name, dtype, shape, data: Array.from(data, String) })),
    tables: snapshot.tables.map((table) => ({
      name: table.name,
      segments: table.segments,
      rowCount: table.rowCount,
      rows: Array.from(table.rows(), ({ id, weights, state, lastUpdateSec }) => {
        return { id: String(id), weights: [...weights], state: [...state], lastUpdateSec };
      }),
    })),
  };
}

/** Path → hex content of every file below `dir`. */
export function treeOf(dir: string): Record<string, string> {
  const files: Record<string, string> = {};
  const walk = (path: string): void => {
    for (const name of readdirSync(path).sort()) {
      const child = join(path, name);
      if (statSync(child).isDirectory()) walk(child);
      else files[relative(dir, child)] = readFileSync(child).toString('hex');
    }
  };
  walk(dir);
  return files;
}

export class Killed extends Error {}

export interface Faults {
  /** Number of the operation that fails, from 0. */
  readonly at: number;
  /**
   * `once`: this operation fails. `kill`: it fails half-way and so does everything after it, as if the process died.
   */
  readonly mode: 'once' | 'kill';
  readonly code?: string;
}

/** The real file system, except where `faults` says otherwise. `operations` counts what was asked of it. */
export function faultyFileSystem(faults: Faults): FileSystem & { readonly operations: number } {
  let operations = 0;
  const step = async (half: () => Promise<void> = async () => {}): Promise<void> => {
    const number = operations++;
    if (faults.mode === 'once' && number === faults.at) {
      const code = faults.code ?? 'EIO';
      throw Object.assign(new Error(`${code}: injected`), { code });
    }
    if (faults.mode === 'kill' && number >= faults.at) {
      if (number === faults.at) await half();
      throw new Killed('killed');
    }
  };
  return {
    get operations() {
      return operations;
    },
    async create(path) {
      await step();
      const file = await nodeFileSystem.create(path);
      return {
        async write(bytes) {
          await step(() => file.write(bytes.subarray(0, bytes.length >> 1)));
          await file.write(bytes);
        },
        async sync() {
          await step();
        },
        async close() {
          // The operating system closes the files of a dead process; the test must do it too.
          await file.close();
          await step();
        },
      };
    },
    async rename(from, to) {
      await step();
      await nodeFileSystem.rename(from, to);
    },
    async remove(path) {
      await step();
      await nodeFileSystem.remove(path);
    },
    async makeDirectory(path) {
      await step();
      await nodeFileSystem.makeDirectory(path);
    },
    async syncDirectory() {
      await step();
    },
    async list(path) {
      await step();
      return nodeFileSystem.list(path);
    },
    stat: (path) => nodeFileSystem.stat(path),
    openToRead: (path) => nodeFileSystem.openToRead(path),
  };
}

/** For saves that are not the point: the same, without forcing every file to disk. */
export const quick = () => ({ fileSystem: faultyFileSystem({ at: Number.POSITIVE_INFINITY, mode: 'once' }) });

export const temporaries = (dir: string): string[] => readdirSync(dir).filter(isTemporaryName);

/** Operations of a save of `second` after `first`, so that each of them can be made to fail. */
export async function operationCount(dir: string, first: number, second: number): Promise<number> {
  const fs = faultyFileSystem({ at: Number.POSITIVE_INFINITY, mode: 'once' });
  await saveCheckpoint(dir, sampleSnapshot(first));
  await saveCheckpoint(dir, sampleSnapshot(second, 5), { keep: 1, fileSystem: fs });
  return fs.operations;
}
