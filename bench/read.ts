/**
 * @file Reading data files: rows per second of CPU time of one thread, ours into batches in shared memory, parsers of
 * npm into the strings or objects they give. All in one run, in turns; the best turn of each counts.
 *
 * The table is Criteo-shaped: a label, 13 counts, 26 texts of 8 characters. `npm run bench -- read [--quick] [--json]`
 */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MersenneTwister } from '../src/base/random.js';
import { f } from '../src/data/fields.js';
import { ExampleRows } from '../src/data/files/example-row.js';
import { openDataset } from '../src/data/quick/quick-dataset.js';
import { quickPlan } from '../src/data/quick/quick-plan.js';
import type { RowStep } from '../src/data/row-step.js';
import { type Feature, type Features, Schema } from '../src/data/schema.js';
import { frameRecord, RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES } from '../src/io/record-writer.js';
import { type ExampleValues, encodeTfExample } from '../src/io/tf-example.js';
import { Arena } from '../src/memory/arena.js';
import { BATCH } from '../src/memory/batch.js';
import { createSharedMemory } from '../src/memory/shared-memory.js';
import { Views } from '../src/memory/views.js';
import { compileKernels } from '../src/runtime/backends/wasm/load-kernels.js';
import { benchMain, table } from './harness.js';
import { type PeerPackage, readPeers } from './read-peers.js';

const [COUNTS, TEXTS] = [13, 26];
const BATCH_SIZE = 4096;
const REGION_BYTES = 64 << 20;
const AHEAD = 8;

export interface ReadResult {
  readonly name: string;
  readonly kind: 'csv' | 'json' | 'tf.Example';
  readonly ours: boolean;
  readonly rowsPerS: number;
}

/** Reads all rows; how many there were. */
type Reader = () => number | Promise<number>;

/** Without `peers` ours alone. */
export async function runReadBench({ quick }: { quick: boolean }, peers: Load | null = readPeers() ?? null) {
  const rows = quick ? 2000 : 100_000;
  const turns = quick ? 1 : 7;
  const dir = mkdtempSync(join(tmpdir(), 'read-'));
  try {
    const file = join(dir, 'clicks.csv');
    writeFileSync(file, clicks(rows));
    const csv: [string, Reader][] = [
      ['ours, in order', await ours(file, [])],
      ['ours, shuffled over 65,536 rows', await ours(file, [{ kind: 'shuffle', buffer: 1 << 16, seed: 1 }])],
      ["split('\\n'), split(',')", () => splitRows(readFileSync(file, 'utf8'))],
      ...(peers === null ? [] : csvPeers(peers, file)),
    ];
    const example = encodeTfExample(exampleOf(new MersenneTwister(2)));
    const made = new ExampleRows();
    const records = join(dir, 'clicks.tfrecord');
    writeExamples(records, quick ? 200 : 50_000);
    const lines = join(dir, 'clicks.jsonl');
    writeFileSync(lines, asJson(readFileSync(file, 'utf8')));
    const json: [string, Reader][] = [
      ['ours, in order', await ours(lines, [])],
      ['JSON.parse', () => parsedLines(readFileSync(lines, 'utf8'))],
    ];
    const examples: [string, Reader][] = [
      ['ours, in order', await ours(records, [])],
      ['ours, shuffled over 65,536 rows', await ours(records, [{ kind: 'shuffle', buffer: 1 << 16, seed: 1 }])],
      ['ours, a row', () => repeated(quick ? 200 : 20_000, () => made.row(example))],
      ...(peers === null ? [] : [examplePeer(peers, example, quick ? 200 : 20_000)]),
    ];
    const results = [
      ...(await measured('csv', csv, turns)),
      ...(await measured('json', json, turns)),
      ...(await measured('tf.Example', examples, turns)),
    ];
    return { node: process.version, rows, turns, exampleBytes: example.length, results };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

async function measured(
  kind: ReadResult['kind'],
  readers: readonly (readonly [string, Reader])[],
  turns: number,
): Promise<ReadResult[]> {
  const best = readers.map(() => 0);
  for (let turn = 0; turn < turns; turn++) {
    for (const [index, [, read]] of readers.entries()) {
      const before = process.cpuUsage();
      const rows = await read();
      const { user, system } = process.cpuUsage(before);
      best[index] = Math.max(best[index]!, (rows * 1e6) / Math.max(1, user + system));
    }
  }
  return readers.map(([name], index) => ({
    name,
    kind,
    ours: name.startsWith('ours'),
    rowsPerS: Math.round(best[index]!),
  }));
}

/** Batches as the reader thread makes them, in this thread. */
async function ours(file: string, steps: readonly RowStep[]): Promise<Reader> {
  const features: Record<string, Feature> = { label: f.label() };
  for (let n = 1; n <= COUNTS; n++) features[`I${n}`] = f.number();
  for (let n = 1; n <= TEXTS; n++) features[`C${n}`] = f.id();
  const schema: Schema<Features> = new Schema(features);
  const plan = quickPlan({ files: [file], options: {}, schema, steps })!;
  const module = await compileKernels();
  const views = new Views(createSharedMemory(REGION_BYTES + 65536).buffer);
  const options = { plan, module, batchSize: BATCH_SIZE, epochs: 1, bytes: REGION_BYTES, ahead: AHEAD };
  return async () => {
    const stream = openDataset(views, new Arena('bench', 64, REGION_BYTES + 4096), options);
    let [taken, rows] = [0, 0];
    for await (const at of stream.stream(0, () => taken, new AbortController().signal)) {
      taken++;
      rows += views.u32[at / 4 + BATCH.rows]!;
    }
    return rows;
  };
}

function splitRows(text: string): number {
  let [rows, cells] = [-1, 0];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    cells += line.split(',').length;
    rows++;
  }
  return cells === 0 ? 0 : rows;
}

/** The table as JSON lines, as a writer of JSON has it: numbers, texts, null. */
function asJson(csv: string): string {
  const [header, ...lines] = csv.trimEnd().split('\n');
  const names = header!.split(',');
  const cell = (text: string, column: number) => (column > COUNTS ? text : text === '' ? null : Number(text));
  const rows = lines.map((line) =>
    line.split(',').map((text, column) => [names[column]!, cell(text, column)] as const),
  );
  return `${rows.map((cells) => JSON.stringify(Object.fromEntries(cells))).join('\n')}\n`;
}

function parsedLines(text: string): number {
  let rows = 0;
  for (const line of text.split('\n')) if (line !== '' && typeof JSON.parse(line) === 'object') rows++;
  return rows;
}

type Load = (name: PeerPackage | 'csv-parse/sync') => unknown;

function csvPeers(load: Load, file: string): [string, Reader][] {
  const papa = load('papaparse') as { parse(text: string, options: object): { data: unknown[] } };
  const udsv = load('udsv') as {
    inferSchema(text: string): object;
    initParser(schema: object): { stringArrs(text: string): unknown[] };
  };
  const { parse } = load('csv-parse/sync') as { parse(text: string): unknown[] };
  const text = () => readFileSync(file, 'utf8');
  return [
    ['papaparse', () => papa.parse(text(), { fastMode: true, skipEmptyLines: true }).data.length - 1],
    [
      'udsv',
      () => {
        const whole = text();
        return udsv.initParser(udsv.inferSchema(whole)).stringArrs(whole).length;
      },
    ],
    ['csv-parse', () => parse(text()).length - 1],
  ];
}

const PROTO = `syntax = "proto3";
message BytesList { repeated bytes value = 1; }
message FloatList { repeated float value = 1; }
message Int64List { repeated int64 value = 1; }
message Feature { oneof kind { BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3; } }
message Features { map<string, Feature> feature = 1; }
message Example { Features features = 1; }`;

function examplePeer(load: Load, example: Uint8Array, count: number): [string, Reader] {
  const { parse } = load('protobufjs') as {
    parse(text: string): { root: { lookupType(name: string): { decode(bytes: Uint8Array): object } } };
  };
  const type = parse(PROTO).root.lookupType('Example');
  return ['protobufjs', () => repeated(count, () => type.decode(example))];
}

function repeated(count: number, call: () => object): number {
  for (let n = 0; n < count; n++) call();
  return count;
}

function clicks(rows: number): string {
  const random = new MersenneTwister(1);
  const names = [
    'label',
    ...Array.from({ length: COUNTS }, (_, n) => `I${n + 1}`),
    ...Array.from({ length: TEXTS }, (_, n) => `C${n + 1}`),
  ];
  const lines = [names.join(',')];
  for (let row = 0; row < rows; row++) {
    const cells: (number | string)[] = [random.nextU32() % 4 === 0 ? 1 : 0];
    for (let n = 0; n < COUNTS; n++) cells.push(random.nextU32() % 10 === 0 ? '' : random.nextU32() % 1000);
    for (let n = 0; n < TEXTS; n++) cells.push(random.nextU32().toString(16).padStart(8, '0'));
    lines.push(cells.join(','));
  }
  return `${lines.join('\n')}\n`;
}

/** A label, 13 floats, 26 ids of 41 bits and more: 6 to 7 bytes each. */
function exampleOf(random: MersenneTwister): ExampleValues {
  const values: Record<string, Float32Array | BigInt64Array> = { label: Float32Array.of(random.nextU32() % 2) };
  for (let n = 1; n <= COUNTS; n++) values[`I${n}`] = Float32Array.of((random.nextU32() % 1000) / 3);
  for (let n = 1; n <= TEXTS; n++) values[`C${n}`] = BigInt64Array.of(BigInt(random.nextU32()) * BigInt(n * 613));
  return values;
}

function writeExamples(file: string, count: number): void {
  const random = new MersenneTwister(3);
  writeFileSync(file, '');
  for (let n = 0; n < count; n++) {
    const payload = encodeTfExample(exampleOf(random));
    const bytes = new Uint8Array(RECORD_HEADER_BYTES + payload.length + RECORD_FOOTER_BYTES);
    bytes.set(payload, RECORD_HEADER_BYTES);
    frameRecord(bytes, new DataView(bytes.buffer), 0, payload.length);
    appendFileSync(file, bytes);
  }
}

await benchMain(import.meta.url, runReadBench, ({ rows, exampleBytes, results }) => {
  const lines = results.map(({ kind, name, rowsPerS, ours: isOurs }) => {
    // `split` is no parser: it knows no quotes.
    const peers = results
      .filter((other) => other.kind === kind && !other.ours && !other.name.startsWith('split'))
      .map((other) => other.rowsPerS);
    const best = Math.max(...peers);
    const times = isOurs && peers.length > 0 ? (rowsPerS / best).toFixed(1) : '';
    return [`${kind}  ${name}`, rowsPerS.toLocaleString('en-US'), times];
  });
  const found = table(['', 'rows/s of CPU', 'x best peer'], lines);
  return `${rows} rows of 40 columns; examples of ${exampleBytes} bytes\n${found}`;
});
