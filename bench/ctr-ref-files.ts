/**
 * @file ctr-ref as files that other systems read: `npm run bench -- ctr-ref <folder> [--train n] [--test n] [--seed s]
 * [--text]`.
 *
 * train.bin and test.bin, little endian: | "CTRREF01" | u32 count | u32 26 | u32 13 | u32 seed | zeros to 64 bytes |
 * labels f32[n] | dense f32[n * 13] | ids i64[n * 26] |. train.rows and test.rows: u32[n * 26]. With --text, train.vw
 * and test.vw for Vowpal Wabbit, one namespace per slot (a to z) and N for the numbers. meta.json says what is there.
 */
import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { ArrayFileOptions } from '../src/data/array-file.js';
import { rowBytes } from '../src/memory/batch.js';
import { auc } from '../src/metrics/auc.js';
import { CTR_SCHEMA } from './ctr-models.js';
import { CATEGORIES, type CtrData, DENSE, generateCtr, REFERENCE, VOCABULARY } from './ctr-ref.js';

const MAGIC = 'CTRREF01';
const HEADER_BYTES = 64;
const CHUNK_BYTES = 1 << 26;
const CHUNK_LINES = 8192;

export interface CtrFilesOptions {
  readonly folder: string;
  readonly train: number;
  readonly test: number;
  readonly seed: number;
  readonly text: boolean;
}

interface PartMeta {
  readonly examples: number;
  readonly ctr: number;
  /** AUC of the hidden model. */
  readonly bayes_auc: number | null;
  readonly sha256: string;
  readonly distinct_ids: number;
}
export interface CtrMeta {
  readonly vocab: number;
  readonly seed: number;
  readonly train: PartMeta;
  readonly test: PartMeta;
}

export function writeCtrFiles({ folder, train, test, seed, text }: CtrFilesOptions): CtrMeta {
  mkdirSync(folder, { recursive: true });
  const write = (name: string, count: number, partSeed: number): PartMeta => {
    const data = generateCtr(count, partSeed);
    const sha256 = writeParts(join(folder, `${name}.bin`), [header(data), data.labels, data.dense, data.ids]);
    writeParts(join(folder, `${name}.rows`), [data.rows]);
    if (text) writeText(join(folder, `${name}.vw`), data);
    const clicks = data.labels.reduce((sum, label) => sum + label, 0);
    const bayes = auc(data.labels, data.logits);
    return { examples: count, ctr: clicks / count, bayes_auc: bayes, sha256, distinct_ids: new Set(data.rows).size };
  };
  const meta = {
    vocab: VOCABULARY,
    seed,
    train: write('train', train, seed),
    test: write('test', test, seed + 1),
  };
  writeFileSync(join(folder, 'meta.json'), `${JSON.stringify(meta, null, 1)}\n`);
  return meta;
}

function header({ count, seed }: CtrData): Uint8Array {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.write(MAGIC, 'latin1');
  [count, CATEGORIES, DENSE, seed].forEach((word, i) => void bytes.writeUInt32LE(word >>> 0, 8 + 4 * i));
  return bytes;
}

/** Writes the arrays one after the other and returns the checksum of all. */
function writeParts(file: string, parts: readonly ArrayBufferView[]): string {
  const handle = openSync(file, 'w');
  const hash = createHash('sha256');
  try {
    for (const { buffer, byteOffset, byteLength } of parts) {
      const bytes = new Uint8Array(buffer, byteOffset, byteLength);
      hash.update(bytes);
      for (let at = 0; at < byteLength; at += CHUNK_BYTES) writeSync(handle, bytes.subarray(at, at + CHUNK_BYTES));
    }
  } finally {
    closeSync(handle);
  }
  return hash.digest('hex');
}

function writeText(file: string, data: CtrData): void {
  const handle = openSync(file, 'w');
  try {
    for (let first = 0; first < data.count; first += CHUNK_LINES) {
      const count = Math.min(CHUNK_LINES, data.count - first);
      writeSync(handle, Array.from({ length: count }, (_, i) => `${textLine(data, first + i)}\n`).join(''));
    }
  } finally {
    closeSync(handle);
  }
}

function textLine({ labels, dense, ids }: CtrData, i: number): string {
  const parts = [labels[i] === 1 ? '1' : '-1'];
  for (let slot = 0; slot < CATEGORIES; slot++) {
    parts.push(`|${String.fromCharCode(97 + slot)} ${ids[i * CATEGORIES + slot]}`);
  }
  parts.push('|N');
  for (let j = 0; j < DENSE; j++) parts.push(`${j}:${Math.round(dense[i * DENSE + j]! * 1000) / 1000}`);
  return parts.join(' ');
}

/** Where the arrays of train.bin or test.bin are, for a reader that streams them: labels, dense, ids. */
export function ctrArrays(file: string, batchSize: number): ArrayFileOptions {
  const handle = openSync(file, 'r');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    readSync(handle, header);
    const rows = countOf(file, header);
    const sizes = CTR_SCHEMA.map((feed) => rows * rowBytes(feed));
    const offsets = sizes.map((_, i) => sizes.slice(0, i).reduce((sum, size) => sum + size, HEADER_BYTES));
    return { file, schema: CTR_SCHEMA, offsets, rows, batchSize };
  } finally {
    closeSync(handle);
  }
}

function countOf(file: string, header: Buffer): number {
  if (header.toString('latin1', 0, MAGIC.length) !== MAGIC) throw new Error(`${file} is not a ctr-ref file`);
  return header.readUInt32LE(8);
}

/** The arrays of train.bin or test.bin. */
export function readCtrFile(file: string): Pick<CtrData, 'count' | 'labels' | 'dense' | 'ids'> {
  const bytes = readFileSync(file);
  const count = countOf(file, bytes);
  let at = HEADER_BYTES;
  const take = (size: number): ArrayBuffer => {
    const part = new Uint8Array(bytes.subarray(at, at + size)).buffer;
    at += size;
    return part;
  };
  return {
    count,
    labels: new Float32Array(take(4 * count)),
    dense: new Float32Array(take(4 * count * DENSE)),
    ids: new BigInt64Array(take(8 * count * CATEGORIES)),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      train: { type: 'string', default: String(REFERENCE.train) },
      test: { type: 'string', default: String(REFERENCE.test) },
      seed: { type: 'string', default: String(REFERENCE.seed) },
      text: { type: 'boolean', default: false },
    },
  });
  const [folder] = positionals;
  if (folder === undefined) throw new Error('usage: ctr-ref <folder> [--train n] [--test n] [--seed s] [--text]');
  const { train, test, seed, text } = values;
  const meta = writeCtrFiles({ folder, train: Number(train), test: Number(test), seed: Number(seed), text });
  console.log(JSON.stringify(meta));
}
