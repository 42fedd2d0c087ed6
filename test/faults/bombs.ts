/**
 * @file Small files that say they are large. As a program: reads one with the readers that people use, and prints what
 * came of it and how much memory the process had at most.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { maskedCrc32c } from '../../src/base/crc32c.js';
import { MonolithError } from '../../src/base/errors.js';
import { loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { formatManifest } from '../../src/checkpoint/manifest-text.js';
import { runProgram } from '../../src/cli/program.js';
import { encodeEntry, encodeHeader } from '../../src/io/bundle-format.js';
import { snappyCompress } from '../../src/io/snappy-writer.js';
import { SstableWriter } from '../../src/io/sstable.js';
import { encodeMeta } from '../../src/sparse/files/multi-meta.js';
import { FakeIo } from '../cli/fake-io.js';
import { recordBytes } from '../io/snappy-stream.js';
import { peakBytes } from './peak-bytes.js';
import { rawSstable, sharedKeys } from './raw-sstable.js';

const write = (file: string, bytes: Uint8Array | string): void => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
};

/** 60,000 keys that each share all but the end with the one before. */
function sharedPrefixes(dir: string): void {
  write(join(dir, 'model.ckpt-1.index'), rawSstable([{ content: sharedKeys(encodeHeader(1), 20_000, 60_000) }]));
}

/** 2,000 tensors that are all the whole data file. */
function overlappingTensors(dir: string): void {
  const size = 1 << 20;
  const crc = maskedCrc32c(new Uint8Array(size));
  const writer = new SstableWriter();
  writer.add(new Uint8Array(0), encodeHeader(1));
  for (let i = 0; i < 2000; i++) {
    const entry = { dtype: 'uint8', shape: [size], shard: 0, offset: 0, size, crc } as const;
    writer.add(Buffer.from(`t${String(i).padStart(4, '0')}`), encodeEntry(entry));
  }
  write(join(dir, 'model.ckpt-1.index'), writer.finish());
  write(join(dir, 'model.ckpt-1.data-00000-of-00001'), Buffer.alloc(size));
  const manifest = formatManifest({ model: 'm', step: 1, dense: [], tables: [], files: [] });
  write(join(dir, 'model.ckpt-1.assets/monolith_model.json'), manifest);
}

/** A table of rows with a hundred million floats, and no rows. */
function wideRows(dir: string): void {
  const name = 't';
  const shard = 't-00000-of-00001';
  const segments = [{ dim: 100_000_000, optimizer: 'adagrad' as const }];
  const files = [{ suffix: `.assets/${shard}`, bytes: 0, crc32c: '00000000' }];
  const tables = [{ name, segments, rowCount: 0, files: [shard] }];
  write(
    join(dir, 'model.ckpt-1.assets/monolith_model.json'),
    formatManifest({ model: 'm', step: 1, dense: [], tables, files }),
  );
  write(join(dir, 'model.ckpt-1.assets', shard), '');
}

/** A manifest of many small things that are all wrong. */
function wrongValues(dir: string): void {
  write(join(dir, 'model.ckpt-1.assets/monolith_model.json'), `{"dense":[${'0,'.repeat(3_000_000)}0]}`);
}

/** One record that is said to be larger than all that 20 MB of snappy decode to. */
async function longRecord(dir: string): Promise<void> {
  const header = Buffer.alloc(12);
  header.writeBigUInt64LE(2n ** 40n);
  header.writeUInt32LE(maskedCrc32c(header.subarray(0, 8)), 8);
  const zeros = framed(snappyCompress(new Uint8Array(262144)));
  const stream = Buffer.concat([framed(snappyCompress(header)), ...new Array<Buffer>(1600).fill(zeros)]);
  const assets = join(dir, 'model.ckpt-1.assets');
  write(join(assets, 't-00000-of-00001'), stream);
  write(join(assets, 't.meta-00000-of-00001'), await recordBytes([encodeMeta({ name: 'a', entries: 1 })]));
}

function framed(block: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(block.length);
  return Buffer.concat([length, block]);
}

export const BOMBS: Readonly<Record<string, (dir: string) => void | Promise<void>>> = {
  sharedPrefixes,
  overlappingTensors,
  wideRows,
  wrongValues,
  longRecord,
};

/** The codes of `inspect` and `loadCheckpoint` for what is in `dir`. */
async function read(dir: string): Promise<string[]> {
  const io = new FakeIo();
  await runProgram(['inspect', '--json', join(dir, 'model.ckpt-1')], io);
  const event = JSON.parse(io.out.text || '{}') as { code?: string };
  const loaded = await loadCheckpoint(join(dir, 'model.ckpt-1')).catch((thrown: unknown) => thrown);
  return [event.code ?? 'none', loaded instanceof MonolithError ? loaded.code : String(loaded)];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const codes = await read(process.argv[2]!);
  console.log(JSON.stringify({ codes, peakBytes: peakBytes() }));
}
