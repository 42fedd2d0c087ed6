/**
 * @file A program that damages what each reader reads, many times: `readers.js DIR SEED COUNT [READER…]`. Every read
 * ends in a value or in an error with a code, in bounded time; one line of JSON for each reader says how many did what.
 *
 * It calls the readers themselves, and not the commands around them as fuzz.ts does: so it comes to a hundred thousand
 * inputs.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MonolithError } from '../../src/base/errors.js';
import { formatManifest, parseManifest } from '../../src/checkpoint/manifest-text.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { f } from '../../src/data/fields.js';
import { FileBlocks } from '../../src/data/quick/file-blocks.js';
import { quickPlan } from '../../src/data/quick/quick-plan.js';
import { Schema } from '../../src/data/schema.js';
import {
  formatCheckpointState,
  formatMonolithCheckpointState,
  parseCheckpointState,
  parseMonolithCheckpointState,
} from '../../src/io/checkpoint-state.js';
import { parsePbtxt } from '../../src/io/pbtxt.js';
import { RecordReader } from '../../src/io/record-reader.js';
import { readTensorBundle, writeTensorBundle } from '../../src/io/tensor-bundle.js';
import { compileKernels } from '../../src/runtime/backends/wasm/load-kernels.js';
import { checkShard } from '../../src/sparse/files/check-shard.js';
import { restoreTable } from '../../src/sparse/files/restore-table.js';
import { saveTable } from '../../src/sparse/files/save-table.js';
import { quick, sampleSnapshot } from '../checkpoint/helpers.js';
import { damageableParquet } from '../data/quick/raw-parquet.js';
import { recordBytes } from '../io/snappy-stream.js';
import { sampleRows, TestTable } from '../sparse/table-files/fixture.js';
import type { FuzzReport } from './fuzz.js';
import { Mutator } from './mutate.js';
import { peakBytes } from './peak-bytes.js';
import { type Change, entries, manifest, payloads } from './subjects.js';

interface Reader {
  /** Good inputs. */
  readonly inputs: readonly Uint8Array[];
  /** Ways to damage one, besides changing its bytes. */
  readonly changes: readonly Change[];
  read(bytes: Uint8Array): unknown;
}

export interface ReaderReport extends FuzzReport {
  readonly reader: string;
  readonly seed: number;
}

const READ_MS_MAX = 5_000;
const FAILURES_MAX = 10;
const SEGMENTS = [
  { dim: 2, optimizer: 'adam' },
  { dim: 1, optimizer: 'ftrl' },
] as const;

const utf8 = (text: string) => Buffer.from(text, 'utf8');

async function record(dir: string): Promise<Reader> {
  const file = join(dir, 'records');
  const contents = [utf8('one'), new Uint8Array(0), new Uint8Array(300).fill(7)];
  return {
    inputs: [await recordBytes(contents)],
    changes: [payloads],
    read: (bytes) => {
      writeFileSync(file, bytes);
      let count = 0;
      for (const payload of new RecordReader(file)) count += payload.length;
      return count;
    },
  };
}

async function bundle(dir: string): Promise<Reader> {
  const prefix = join(dir, 'b');
  await writeTensorBundle(prefix, [
    { name: 'floats', dtype: 'float32', shape: [2, 3], data: Float32Array.of(1, 2, 3, 4, 5, 6) },
    { name: 'ids', dtype: 'int64', shape: [2], data: BigInt64Array.of(1n, -1n) },
    { name: 'names', dtype: 'string', shape: [3], data: ['a', '', 'ccc'].map(utf8) },
    { name: 'none', dtype: 'uint8', shape: [0, 4], data: new Uint8Array(0) },
  ]);
  const [index, data] = [`${prefix}.index`, `${prefix}.data-00000-of-00001`].map((file) => {
    return { file, bytes: Buffer.from(readFileSync(file)) };
  }) as [{ file: string; bytes: Buffer }, { file: string; bytes: Buffer }];
  return {
    inputs: [index.bytes, index.bytes, data.bytes],
    changes: [(bytes, m) => (bytes.length === index.bytes.length ? entries(bytes, m) : m.bytes(bytes))],
    read: (bytes) => {
      // What was an index begins as one: both files are written, one of them damaged.
      const isData = Buffer.compare(bytes.subarray(0, 8), data.bytes.subarray(0, 8)) === 0;
      writeFileSync(index.file, isData ? index.bytes : bytes);
      writeFileSync(data.file, isData ? bytes : data.bytes);
      return readTensorBundle(prefix).length;
    },
  };
}

async function text(): Promise<Reader> {
  const state = { modelCheckpointPath: 'model.ckpt-3', allModelCheckpointPaths: ['model.ckpt-2', 'model.ckpt-3'] };
  const other = { exemptModelCheckpointPaths: ['model.ckpt-2', 'x/\u00e4"y'], lastCheckpointSaveTimestamp: 17n };
  const nested = 'a { b: [1, 2.5e3, "x\\n\\377"] c < d: -1 > }\n# why\naction: STOP, e: \'q\';\n';
  return {
    inputs: [formatCheckpointState(state), formatMonolithCheckpointState(other), nested].map(utf8),
    changes: [],
    read: (bytes) => {
      const written = Buffer.from(bytes).toString('utf8');
      const outcomes = [parsePbtxt, parseCheckpointState, parseMonolithCheckpointState].map((parse) => {
        try {
          return parse(written, 'x');
        } catch (error) {
          if (error instanceof MonolithError) return error;
          throw error;
        }
      });
      const refused = outcomes.filter((outcome) => outcome instanceof MonolithError);
      if (refused.length === outcomes.length) throw refused[0];
      return outcomes;
    },
  };
}

async function assets(dir: string): Promise<Reader> {
  const base = join(dir, 'table');
  const source = await TestTable.create({ segments: SEGMENTS });
  source.put(sampleRows(12, SEGMENTS));
  const { files } = await saveTable(source, base, quick());
  const target = await TestTable.create({ segments: SEGMENTS });
  const [file] = files as [string];
  return {
    inputs: [readFileSync(file)],
    changes: [payloads],
    read: async (bytes) => {
      writeFileSync(file, bytes);
      await checkShard({ name: 't', segments: SEGMENTS }, file);
      return (await restoreTable(target, base)).rows;
    },
  };
}

async function manifestText(dir: string): Promise<Reader> {
  const { path } = await saveCheckpoint(dir, sampleSnapshot(3, 2), quick());
  const input = readFileSync(`${path}.assets/monolith_model.json`);
  return {
    inputs: [input],
    changes: [manifest],
    read: (bytes) => formatManifest(parseManifest(Buffer.from(bytes).toString('utf8'), 'monolith_model.json')).length,
  };
}

/** Pages as the thread that reads files decodes them, of both versions and with what hyparquet is left to read. */
async function parquet(dir: string): Promise<Reader> {
  const file = join(dir, 'a.parquet');
  const schema = new Schema({ id: f.id(), name: f.ids({ split: ' ' }), x: f.number(), list: f.ids() });
  const plan = quickPlan({ files: [file], options: { badRows: 'skip' }, schema, steps: [] })!;
  const blocks = new FileBlocks(plan, await compileKernels());
  return {
    inputs: damageableParquet(),
    changes: [],
    read: async (bytes) => {
      writeFileSync(file, bytes);
      let rows = 0;
      for await (const block of blocks) rows += block.rows;
      return rows;
    },
  };
}

const READERS: Readonly<Record<string, (dir: string) => Promise<Reader>>> = {
  record,
  bundle,
  text,
  assets,
  manifest: manifestText,
  parquet,
};
export const READER_NAMES = Object.keys(READERS);

async function fuzz(name: string, reader: Reader, seed: number, count: number): Promise<ReaderReport> {
  const codes: Record<string, number> = {};
  const failures: string[] = [];
  let [attempts, loads, slowestMs] = [0, 0, 0];
  for (; attempts < count && failures.length < FAILURES_MAX; attempts++) {
    const mutator = new Mutator(seed + attempts);
    const good = mutator.pick(reader.inputs);
    const change = reader.changes.length > 0 && mutator.below(2) === 0 ? mutator.pick(reader.changes) : undefined;
    const bad = change === undefined ? mutator.bytes(good) : await change(good, mutator);
    const start = performance.now();
    try {
      await reader.read(bad);
      loads++;
    } catch (error) {
      if (error instanceof MonolithError && error.code !== 'ML_INTERNAL') {
        codes[error.code] = (codes[error.code] ?? 0) + 1;
      } else failures.push(`seed ${seed + attempts}: ${error instanceof Error ? error.stack : String(error)}`);
    }
    const ms = performance.now() - start;
    slowestMs = Math.max(slowestMs, ms);
    if (ms > READ_MS_MAX) failures.push(`seed ${seed + attempts}: took ${Math.round(ms)} ms`);
  }
  return { reader: name, seed, attempts, loads, codes, failures, slowestMs, peakBytes: peakBytes() };
}

if (process.argv[1]?.endsWith('readers.js')) {
  const [dir, seed, count, ...names] = process.argv.slice(2) as [string, string, string, ...string[]];
  for (const name of names.length > 0 ? names : READER_NAMES) {
    const folder = join(dir, name);
    mkdirSync(folder, { recursive: true });
    console.log(JSON.stringify(await fuzz(name, await READERS[name]!(folder), Number(seed), Number(count))));
  }
  process.exit(0);
}
