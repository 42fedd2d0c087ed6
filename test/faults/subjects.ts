/**
 * @file The formats that are read, each with good files, ways to damage them, and the readers that people use.
 *
 * Damage comes in two kinds: of the bytes as they are, which checksums notice, and of what is inside, with checksums
 * that fit again, which is what an enemy writes.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32c, crcHex } from '../../src/base/crc32c.js';
import { MonolithError } from '../../src/base/errors.js';
import { latestCheckpoint, loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { runProgram } from '../../src/cli/program.js';
import { formatMonolithCheckpointState, parseMonolithCheckpointState } from '../../src/io/checkpoint-state.js';
import { RecordReader } from '../../src/io/record-reader.js';
import { tfSnappyDecode } from '../../src/io/snappy.js';
import { snappyCompress } from '../../src/io/snappy-writer.js';
import { readSstable, SstableWriter } from '../../src/io/sstable.js';
import { readTensorBundle, writeTensorBundle } from '../../src/io/tensor-bundle.js';
import { restoreFilter, saveFilter } from '../../src/sparse/admission/filter-files.js';
import { HashFilter } from '../../src/sparse/admission/hash-filter.js';
import { restoreMultiTable } from '../../src/sparse/files/restore-multi-table.js';
import { restoreTable } from '../../src/sparse/files/restore-table.js';
import { saveMultiTable } from '../../src/sparse/files/save-multi-table.js';
import { saveTable } from '../../src/sparse/files/save-table.js';
import { contentOf, quick, sampleSnapshot } from '../checkpoint/helpers.js';
import { FakeIo } from '../cli/fake-io.js';
import { recordBytes } from '../io/snappy-stream.js';
import { KernelHarness } from '../kernels/harness.js';
import { sampleRows, TestTable } from '../sparse/table-files/fixture.js';
import type { Mutator } from './mutate.js';

export type Change = (bytes: Uint8Array, mutator: Mutator) => Uint8Array | Promise<Uint8Array>;

export interface Target {
  readonly file: string;
  readonly change: Change;
  /** Whether checksums must notice: what is read in spite of it has to be what was written. */
  readonly isChecked: boolean;
}

export interface Subject {
  readonly name: string;
  readonly targets: readonly Target[];
  /** Reads all there is, with every reader; what it held, to be compared. */
  read(): Promise<unknown>;
}

const raw = (file: string, isChecked = true): Target => ({ file, isChecked, change: (bytes, m) => m.bytes(bytes) });
const inner = (file: string, change: Change): Target => ({ file, isChecked: false, change });

/** Damages one payload of a record file and frames them all anew. */
export const payloads: Change = async (bytes, m) => {
  const found = framesOf(bytes);
  if (found.length === 0) return m.bytes(bytes);
  const at = m.below(found.length);
  const changed = m.below(8) === 0 ? found.filter((_, i) => i !== at) : found.with(at, m.bytes(found[at]!));
  return recordBytes(m.below(8) === 0 ? [...changed, ...changed] : changed);
};

function framesOf(bytes: Uint8Array): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += 16 + found.at(-1)!.length) {
    found.push(bytes.subarray(at + 12, at + 12 + view.getUint32(at, true)));
  }
  return found;
}

/** Damages what a stream of snappy blocks decodes to, or a block of it, and packs it again. */
const packed: Change = async (bytes, m) => {
  const decoded = tfSnappyDecode(bytes);
  const content = m.below(2) === 0 ? m.bytes(decoded) : await payloads(decoded, m);
  const block = snappyCompress(content);
  const damaged = m.below(3) === 0 ? m.bytes(block) : block;
  const length = Buffer.alloc(4);
  length.writeUInt32BE(damaged.length);
  return Buffer.concat([length, damaged]);
};

/** Damages a key or a value of an index. */
export const entries: Change = (bytes, m) => {
  const found = readSstable(bytes, 'index').map(({ key, value }) => ({ key, value }));
  const at = m.below(found.length);
  const { key, value } = found[at]!;
  found[at] = m.below(4) === 0 ? { key: m.bytes(key), value } : { key, value: m.bytes(value) };
  const writer = new SstableWriter();
  let last: Uint8Array | undefined;
  for (const entry of found.sort((a, b) => Buffer.compare(a.key, b.key))) {
    if (last !== undefined && Buffer.compare(last, entry.key) === 0) continue;
    writer.add(entry.key, entry.value);
    last = entry.key;
  }
  return writer.finish();
};

/** Damages a value of a manifest, whose checksum then fits again. */
export const manifest: Change = (bytes, m) => {
  const { crc32c: _, ...body } = JSON.parse(Buffer.from(bytes).toString('utf8')) as Record<string, unknown>;
  const changed = m.json(body) as object;
  const crc = crcHex(crc32c(Buffer.from(JSON.stringify(changed), 'utf8')));
  return Buffer.from(`${JSON.stringify({ ...changed, crc32c: crc }, null, 2)}\n`);
};

const json: Change = (bytes, m) => {
  const text = Buffer.from(bytes).toString('utf8');
  return m.below(2) === 0 ? m.bytes(bytes) : Buffer.from(JSON.stringify(m.json(JSON.parse(text))));
};

/** Runs a command; an error that it reports is thrown, and one without a code of its own is no MonolithError. */
async function cli(...args: string[]): Promise<void> {
  const io = new FakeIo();
  await runProgram([...args, '--json'], io);
  for (const line of io.out.text.split('\n').filter((text) => text !== '')) {
    const event = JSON.parse(line) as { event?: string; code?: string; message?: string };
    if (event.code === 'ML_INTERNAL') throw new Error(`${args.join(' ')}: ${event.message}`);
  }
}

async function checkpoint(home: string): Promise<Subject> {
  const { path } = await saveCheckpoint(home, sampleSnapshot(3, 2), quick());
  const assets = `${path}.assets`;
  const tables = readdirSync(assets)
    .filter((name) => name.includes('-of-'))
    .map((name) => join(assets, name));
  const model = join(assets, 'monolith_model.json');
  const index = `${path}.index`;
  return {
    name: 'checkpoint',
    targets: [
      ...[model, index, `${path}.data-00000-of-00001`, ...tables].map((file) => raw(file)),
      inner(model, manifest),
      inner(index, entries),
      ...tables.map((file) => inner(file, payloads)),
    ],
    read: async () => {
      await cli('inspect', path);
      await cli('inspect', path, '--quick');
      const loaded = await loadCheckpoint(path);
      await loaded.filters[0]?.write(join(home, 'copy', 'hash_filter_0'), quick().fileSystem);
      return contentOf(loaded);
    },
  };
}

async function state(home: string): Promise<Subject> {
  for (const step of [2, 3]) await saveCheckpoint(home, sampleSnapshot(step, 1), quick());
  const other = join(home, 'monolith_checkpoint');
  writeFileSync(other, formatMonolithCheckpointState({ exemptModelCheckpointPaths: ['model.ckpt-2', 'x/y'] }));
  return {
    name: 'state files',
    targets: [raw(join(home, 'checkpoint'), false), raw(other, false)],
    read: async () => {
      parseMonolithCheckpointState(readFileSync(other, 'utf8'), other);
      await cli('inspect', home, '--quick');
      const latest = await latestCheckpoint(home);
      if (latest === null) throw new Error('the checkpoints were made to disappear');
      return (await loadCheckpoint(latest)).step;
    },
  };
}

async function bundle(home: string): Promise<Subject> {
  const prefix = join(home, 'b');
  await writeTensorBundle(prefix, [
    { name: 'floats', dtype: 'float32', shape: [2, 3], data: Float32Array.of(1, 2, 3, 4, 5, 6) },
    { name: 'ids', dtype: 'int64', shape: [2], data: BigInt64Array.of(1n, -1n) },
    { name: 'names', dtype: 'string', shape: [3], data: ['a', '', 'ccc'].map((text) => Buffer.from(text)) },
    { name: 'none', dtype: 'uint8', shape: [0, 4], data: new Uint8Array(0) },
  ]);
  const [index, data] = [`${prefix}.index`, `${prefix}.data-00000-of-00001`];
  return {
    name: 'tensor bundle',
    targets: [raw(index), raw(data), inner(index, entries)],
    read: async () => {
      const tensors = readTensorBundle(prefix);
      return tensors.map(({ name, dtype, shape, data }) => [name, dtype, shape, Array.from<unknown>(data).map(String)]);
    },
  };
}

const SEGMENTS = [
  { dim: 2, optimizer: 'adam' },
  { dim: 1, optimizer: 'batchSoftmax' },
] as const;

async function tableFiles(home: string): Promise<Subject> {
  const base = join(home, 'table');
  const source = await TestTable.create({ segments: SEGMENTS });
  source.put(sampleRows(20, SEGMENTS));
  const { files } = await saveTable(source, base, quick());
  const target = await TestTable.create({ segments: SEGMENTS });
  return {
    name: 'table file',
    targets: files.flatMap((file) => [raw(file, false), inner(file, payloads)]),
    read: async () => {
      for (const file of files) for (const _ of new RecordReader(file));
      await cli('inspect', files[0]!);
      await cli('inspect', files[0]!, '--id', '7');
      return (await restoreTable(target, base)).rows;
    },
  };
}

async function multiTable(home: string): Promise<Subject> {
  const base = join(home, 'multi');
  const segments = [{ dim: 2, optimizer: 'ftrl' }] as const;
  const make = async () => [
    { name: 'slot0', table: await TestTable.create({ segments }) },
    { name: 'slot1', table: await TestTable.create({ segments }) },
  ];
  const tables = await make();
  for (const { table } of tables) table.put(sampleRows(5, segments));
  await saveMultiTable(tables, base, quick());
  const [data, meta] = [`${base}-00000-of-00001`, `${base}.meta-00000-of-00001`];
  const target = await make();
  return {
    name: 'files of several tables',
    targets: [raw(data, false), raw(meta, false), inner(data, packed), inner(meta, payloads)],
    read: async () => {
      await cli('inspect', base);
      await restoreMultiTable(target.slice(0, 1), base);
      return null;
    },
  };
}

async function filter(home: string): Promise<Subject> {
  const harness = await KernelHarness.create(16 << 20);
  const memory = { views: harness.views, kernels: harness.wasm, arena: harness.arena };
  const make = () => HashFilter.sliding({ ...memory, capacity: 300, splitNum: 3 });
  const [source, target] = [make(), make()];
  source.add(BigInt64Array.from({ length: 100 }, (_, i) => BigInt(i)));
  const base = join(home, 'hash_filter_0');
  const files = await saveFilter(source, base, quick().fileSystem);
  return {
    name: 'filter',
    targets: files.flatMap((file) => [raw(file, false), inner(file, payloads)]),
    read: async () => {
      await cli('inspect', base);
      await restoreFilter(target, base);
      return null;
    },
  };
}

async function trace(home: string): Promise<Subject> {
  const file = join(home, 'trace.json');
  const span = { ph: 'X', pid: 1, tid: 1, ts: 1, dur: 5, name: 'op', cat: 'kernel' };
  const events = [
    span,
    { ...span, ts: 2, dur: 1, cat: 'wait' },
    { ph: 'C', pid: 1, tid: 1, ts: 3, name: 'rows', args: { rows: 3 } },
    { ph: 'M', pid: 1, tid: 1, name: 'thread_name', args: { name: 'main' } },
    { ph: 'i', pid: 1, tid: 2, ts: 9, name: 'mark' },
  ];
  writeFileSync(file, JSON.stringify({ traceEvents: events, otherData: { producer: 'monolith-ts', threads: [] } }));
  return {
    name: 'trace',
    targets: [inner(file, json)],
    read: async () => {
      await cli('trace', file);
      return null;
    },
  };
}

/** All of them, each in a folder of its own below `home`. */
export async function makeSubjects(home: string): Promise<Subject[]> {
  const makers = { checkpoint, state, bundle, tableFiles, multiTable, filter, trace };
  const subjects: Subject[] = [];
  for (const [name, make] of Object.entries(makers)) {
    const dir = join(home, name);
    mkdirSync(dir, { recursive: true });
    subjects.push(await make(dir));
  }
  return subjects;
}

/** What came of reading: the code of the error, or null for a load. Anything else that is thrown goes on. */
export async function outcome(subject: Subject): Promise<{ code: string | null; content: unknown }> {
  try {
    return { code: null, content: await subject.read() };
  } catch (error) {
    if (error instanceof MonolithError && error.code !== 'ML_INTERNAL') return { code: error.code, content: null };
    throw error;
  }
}
