/** @file Cases of files: records, checksums, tensor bundles, and the texts beside checkpoints. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32c, maskCrc } from '../../../src/base/crc32c.js';
import { nodeFileSystem } from '../../../src/base/files/file-system.js';
import { sliceKey } from '../../../src/io/bundle-format.js';
import { formatMonolithCheckpointState, HASH_TABLE_TYPES } from '../../../src/io/checkpoint-state.js';
import { formatCkptInfo } from '../../../src/io/ckpt-info.js';
import { RecordWriter } from '../../../src/io/record-writer.js';
import { SnappyRecordReader } from '../../../src/io/snappy-record-reader.js';
import { type BundleTensor, writeBundleData } from '../../../src/io/tensor-bundle.js';
import { QueryActionHook } from '../../../src/train/hooks/query-action.js';
import { type Fields, type ParityCase, type ParityHandlers, UnknownForm } from '../case.js';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

async function inFolder<T>(body: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'parity-files-'));
  try {
    return await body(dir);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** CRCs as the case writes them: their bytes from the highest on. */
const crcText = (crc: number) => (crc >>> 0).toString(16).padStart(8, '0');

async function records({ case: name, input }: ParityCase): Promise<unknown> {
  const given = input as Fields;
  if (name === 'tfrecord bytes') {
    const parts: Buffer[] = [];
    const writer = new RecordWriter({ write: async (bytes) => void parts.push(Buffer.from(bytes)) });
    for (const payload of given.payloads as string[]) await writer.write(Buffer.from(payload));
    await writer.flush();
    return { hex: hex(Buffer.concat(parts)) };
  }
  if (name === 'crc32c check values') {
    const crcs = (given.bytes_hex as string[]).map((bytes) => crc32c(Buffer.from(bytes, 'hex')));
    return { crc32c: crcs.map(crcText), masked: crcs.map((crc) => crcText(maskCrc(crc))) };
  }
  if (name !== 'tf snappy stream decodes to two records') throw new UnknownForm(name);
  return inFolder(async (dir) => {
    const file = join(dir, 'records');
    writeFileSync(file, Buffer.from(String(given.hex), 'hex'));
    const reader = new SnappyRecordReader(file);
    const [found, bytes]: [string[], number[]] = [[], []];
    try {
      for (let payload = reader.next(); payload !== null; payload = reader.next()) {
        found.push(Buffer.from(payload).toString());
        // A record is its length and a checksum, the payload and another checksum.
        bytes.push(payload.length + 16);
      }
    } finally {
      reader.close();
    }
    const repeated = 'monolith'.repeat(40);
    return {
      payloads: found.map((text) => (text === repeated ? 'monolith repeated 40 times' : text)),
      uncompressed_bytes: bytes.reduce((sum, count) => sum + count, 0),
    };
  });
}

async function bundle({ case: name, input }: ParityCase): Promise<unknown> {
  if (name === 'slice key bytes') {
    const { name: variable, slices } = input as { name: string; slices: [number, number][][] };
    return slices.map((extents) => hex(sliceKey(variable, extents)));
  }
  if (name !== 'index and data bytes') throw new UnknownForm(name);
  const { tensors } = input as { tensors: Record<string, { dtype: string; shape: number[]; values: unknown[] }> };
  const given = Object.entries(tensors).map(([variable, { dtype, shape, values }]): BundleTensor => {
    if (dtype === 'int64') {
      return { name: variable, dtype, shape, data: BigInt64Array.from(values as string[], BigInt) };
    }
    if (dtype === 'string') {
      return { name: variable, dtype, shape, data: (values as string[]).map((text) => Buffer.from(text)) };
    }
    return { name: variable, dtype: 'float32', shape, data: Float32Array.from(values as number[]) };
  });
  return inFolder(async (dir) => {
    const file = join(dir, 'data');
    const { index } = await writeBundleData(file, given, nodeFileSystem);
    return { index_hex: hex(index), data_hex: hex(readFileSync(file)) };
  });
}

async function texts({ case: name, input }: ParityCase): Promise<unknown> {
  const given = input as Fields;
  if (name === 'monolith checkpoint state text') {
    const text = formatMonolithCheckpointState({
      exemptModelCheckpointPaths: given.exempt_model_checkpoint_paths as string[],
      lastCheckpointSaveTimestamp: BigInt(given.last_checkpoint_save_timestamp as number),
      builtinHashTableType: HASH_TABLE_TYPES[given.builtin_hash_table_type as number]!,
    });
    return { text };
  }
  if (name === 'ckpt info text') {
    const counts = Object.entries(given.slot_counts as Record<string, number>);
    // The name of the file is that of the step, which test/train/table-listeners.test.ts has from a save.
    return {
      text: formatCkptInfo({ slotCounts: new Map(counts.map(([k, v]) => [Number(k), v])) }),
      file: 'ckpt.info-0',
    };
  }
  if (name !== 'controller action file triggers one save') throw new UnknownForm(name);
  return inFolder(async (modelDir) => {
    const file = join(modelDir, String(given.file));
    writeFileSync(file, String(given.text));
    let saves = 0;
    const hook = new QueryActionHook({ modelDir, triggerSave: async () => void saves++, querySeconds: 0 });
    for (let poll = 0; poll < 2; poll++) await hook.poll({ globalStep: 0 } as never);
    const response = readFileSync(join(modelDir, 'monolith_action_response'), 'utf8');
    return { saves, action_file_removed: !existsSync(file), response };
  });
}

export const handlers: ParityHandlers = { record: records, tensor_bundle: bundle, pbtxt: texts };
