import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseBoundedJson } from '../../src/base/bounded-json.js';
import { maskedCrc32c } from '../../src/base/crc32c.js';
import { readWhole } from '../../src/base/files/read-file.js';
import { LIMITS, type LimitName } from '../../src/base/limits.js';
import { latestCheckpoint, loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import type { Manifest } from '../../src/checkpoint/manifest.js';
import { formatManifest, parseManifest } from '../../src/checkpoint/manifest-text.js';
import { SlotCounts } from '../../src/cli/slot-counts.js';
import { encodeRows } from '../../src/data/encode-rows.js';
import { f } from '../../src/data/fields.js';
import { defineSchema } from '../../src/data/schema.js';
import { encodeEntry, encodeHeader } from '../../src/io/bundle-format.js';
import { BundleReader } from '../../src/io/bundle-reader.js';
import { parseCheckpointState } from '../../src/io/checkpoint-state.js';
import { parsePbtxt } from '../../src/io/pbtxt.js';
import { RecordReader } from '../../src/io/record-reader.js';
import { SafetensorsFile } from '../../src/io/safetensors.js';
import { snappyUncompress } from '../../src/io/snappy.js';
import { SnappyRecordReader } from '../../src/io/snappy-record-reader.js';
import { snappyCompress } from '../../src/io/snappy-writer.js';
import { SstableWriter } from '../../src/io/sstable.js';
import type { PortableOpJson } from '../../src/portable/document.js';
import { readModelJson } from '../../src/portable/model-json.js';
import { readGraph } from '../../src/portable/read-graph.js';
import { readEvents } from '../../src/report/event-lines.js';
import { readRecipe, readRunRecord } from '../../src/report/run-folder.js';
import type { Session } from '../../src/runtime/session/session.js';
import { NativeModel } from '../../src/serve/native/read-native.js';
import { encodeMeta, readMeta } from '../../src/sparse/files/multi-meta.js';
import { readChromeTrace } from '../../src/trace/read-chrome-trace.js';
import { CsvLogHook } from '../../src/train/hooks/csv-log.js';
import { recordBytes, snappyStream } from '../io/snappy-stream.js';
import { PARQUET_BEYOND } from './parquet-limits.js';
import { rawSstable } from './raw-sstable.js';
import { sparse } from './sparse-file.js';

type Attempt = (dir: string) => unknown;

const over = (name: LimitName) => LIMITS[name] + 1;

const EMPTY: Manifest = { model: 'm', step: 1, dense: [], tables: [], files: [] };
const manifest = (changes: Partial<Manifest>) => parseManifest(formatManifest({ ...EMPTY, ...changes }), 'manifest');
const table = (name: string, dims: readonly number[]) => ({
  name,
  segments: dims.map((dim) => ({ dim, optimizer: 'sgd' as const })),
  rowCount: 0,
  files: [],
});

/** A bundle whose index has the header and these entries. */
function bundle(dir: string, entries: readonly (readonly [key: Uint8Array, value: Uint8Array])[]): BundleReader {
  const writer = new SstableWriter();
  writer.add(new Uint8Array(0), encodeHeader(1));
  for (const [key, value] of entries) writer.add(key, value);
  writeFileSync(join(dir, 'b.index'), writer.finish());
  return new BundleReader(join(dir, 'b'));
}

const entryOf = (dtype: 'uint8' | 'string', shape: readonly number[], size: number) =>
  encodeEntry({ dtype, shape, shard: 0, offset: 0, size, crc: 0 });

function recordHeader(size: number): Buffer {
  const header = Buffer.alloc(12);
  header.writeBigUInt64LE(BigInt(size));
  header.writeUInt32LE(maskedCrc32c(header.subarray(0, 8)), 8);
  return header;
}

const numbered = (count: number, bytes: number) =>
  Array.from({ length: count }, (_, i) => [Buffer.from(String(i).padStart(bytes, '0')), new Uint8Array(0)] as const);

/** For each limit, files just beyond it. */
const BEYOND: Readonly<Record<LimitName, readonly Attempt[]>> = {
  nameBytes: [
    () => manifest({ model: 'x'.repeat(over('nameBytes')) }),
    () => manifest({ tables: [table('x'.repeat(over('nameBytes')), [1])] }),
    async (dir) => {
      const file = join(dir, 'meta');
      writeFileSync(file, await recordBytes([encodeMeta({ name: 'x'.repeat(over('nameBytes')), entries: 0 })]));
      readMeta(file);
    },
  ],
  pathBytes: [() => parseCheckpointState(`model_checkpoint_path: "${'x'.repeat(over('pathBytes'))}"`, 'checkpoint')],
  jsonDepth: [
    () => parseManifest('['.repeat(over('jsonDepth')), 'manifest'),
    (dir) => {
      writeFileSync(join(dir, 'trace.json'), '['.repeat(over('jsonDepth')));
      return readChromeTrace(join(dir, 'trace.json'));
    },
  ],
  textDepth: [() => parsePbtxt('a{'.repeat(over('textDepth')), 'text'), () => parsePbtxt('a<'.repeat(1e6), 'text')],
  stateBytes: [
    (dir) => {
      sparse(join(dir, 'checkpoint'), over('stateBytes'));
      return latestCheckpoint(dir);
    },
  ],
  manifestBytes: [
    (dir) => {
      mkdirSync(join(dir, 'model.ckpt-1.assets'));
      sparse(join(dir, 'model.ckpt-1.assets/monolith_model.json'), over('manifestBytes'));
      return loadCheckpoint(join(dir, 'model.ckpt-1'));
    },
  ],
  manifestValues: [() => parseManifest(`{"dense":[${'0,'.repeat(over('manifestValues'))}0]}`, 'manifest')],
  inputBytes: [() => manifest({ input: 'x'.repeat(over('inputBytes')) })],
  settingsBytes: [() => manifest({ settings: { x: 'x'.repeat(over('settingsBytes')) } })],
  // Of a file that is passed over, whatever is wrong with it.
  probeBytes: [(dir) => readWhole(sparse(join(dir, 'probe.json'), over('probeBytes')), 'probeBytes')],
  traceBytes: [(dir) => readChromeTrace(sparse(join(dir, 'trace.json'), over('traceBytes')))],
  traceValues: [
    () =>
      parseBoundedJson(`[${'0,'.repeat(over('traceValues'))}0]`, 'traceValues', (reason) => {
        throw new RangeError(reason);
      }),
  ],
  indexBytes: [
    (dir) => {
      sparse(join(dir, 'b.index'), over('indexBytes'));
      return new BundleReader(join(dir, 'b'));
    },
  ],
  indexDecodedBytes: [
    (dir) => {
      // All restart points and no entries, so that it may come any number of times.
      const content = Buffer.alloc(LIMITS.snappyBlockBytes);
      content.writeUInt32LE(content.length / 4 - 1, content.length - 4);
      const handles = LIMITS.indexDecodedBytes / content.length + 1;
      writeFileSync(join(dir, 'b.index'), rawSstable([{ content: snappyCompress(content), snappy: true, handles }]));
      return new BundleReader(join(dir, 'b'));
    },
  ],
  indexEntries: [(dir) => bundle(dir, numbered(LIMITS.indexEntries, 7))],
  indexKeyBytes: [(dir) => bundle(dir, numbered(1, over('indexKeyBytes')))],
  indexKeysBytes: [
    (dir) => bundle(dir, numbered(LIMITS.indexKeysBytes / LIMITS.indexKeyBytes + 1, LIMITS.indexKeyBytes)),
  ],
  rank: [
    (dir) => bundle(dir, [[Buffer.from('x'), entryOf('uint8', new Array(over('rank')).fill(1), 1)]]),
    () => manifest({ dense: [{ name: 'x', dtype: 'int32', shape: new Array(over('rank')).fill(1) }] }),
  ],
  tensorParts: [
    (dir) => {
      const parts = Buffer.alloc(2 * over('tensorParts'), Uint8Array.of(0x3a, 0));
      return bundle(dir, [[Buffer.from('x'), Buffer.concat([entryOf('uint8', [1], 1), parts])]]);
    },
  ],
  tensorBytes: [
    (dir) => bundle(dir, [[Buffer.from('x'), entryOf('uint8', [over('tensorBytes')], over('tensorBytes'))]]).read('x'),
  ],
  tensorStrings: [
    (dir) => {
      const count = over('tensorStrings');
      sparse(join(dir, 'b.data-00000-of-00001'), count + 4);
      return bundle(dir, [[Buffer.from('x'), entryOf('string', [count], count + 4)]]).read('x');
    },
  ],
  recordBytes: [
    (dir) => {
      const size = over('recordBytes');
      const reader = new RecordReader(sparse(join(dir, 'r'), size + 16, recordHeader(size)));
      try {
        reader.next();
      } finally {
        reader.close();
      }
    },
    (dir) => {
      writeFileSync(join(dir, 's'), snappyStream(recordHeader(over('recordBytes')), 64));
      const reader = new SnappyRecordReader(join(dir, 's'));
      try {
        reader.next();
      } finally {
        reader.close();
      }
    },
  ],
  snappyBlockBytes: [() => snappyUncompress(Uint8Array.of(0x81, 0x80, 0x80, 0x08))],
  ...PARQUET_BEYOND,
  rowFloats: [
    () => manifest({ tables: [table('x', [over('rowFloats')])] }),
    () => manifest({ tables: [{ ...table('x', []), segments: [{ dim: 1, optimizer: 'adagrad', stateDim: 1e9 }] }] }),
  ],
  rowSegments: [() => manifest({ tables: [table('x', new Array(over('rowSegments')).fill(0))] })],
  tables: [
    async (dir) => {
      const file = join(dir, 'meta');
      writeFileSync(file, await recordBytes(new Array(over('tables')).fill(encodeMeta({ name: 'x', entries: 0 }))));
      readMeta(file);
    },
  ],
  slotCounts: [
    () => {
      const budget = { counts: 0, file: 'x' };
      const tables = Array.from({ length: over('slotCounts') / 32768 + 1 }, () => new SlotCounts(budget));
      for (const one of tables) for (let slot = 0; slot < 32768; slot++) one.add(slot);
    },
  ],
  rowIds: [
    () => {
      return encodeRows(defineSchema({ ids: f.ids() }), [{ ids: new BigInt64Array(over('rowIds')) as never }]);
    },
  ],
  logBytes: [
    (dir) => readEvents(sparse(join(dir, 'x.jsonl'), over('logBytes'))),
    (dir) => {
      const file = sparse(join(dir, 'log.csv'), over('logBytes'));
      const hook = new CsvLogHook({ file, loss: null as never, batchSize: 1 });
      return hook.afterCreateSession({ globalStep: 0 } as Session);
    },
  ],
  recipeBytes: [
    (dir) => {
      sparse(join(dir, 'schema.json'), over('recipeBytes'));
      return readRecipe(dir);
    },
    (dir) => {
      sparse(join(dir, 'run.json'), over('recipeBytes'));
      return readRunRecord(dir);
    },
  ],
  graphOps: [
    () => {
      const ops = new Array<PortableOpJson>(over('graphOps')).fill({ name: 'x', type: 'Mul' });
      return readGraph({ ops, tables: [] }, () => new Float32Array(0));
    },
  ],
  modelBytes: [
    (dir) => {
      sparse(join(dir, 'model.json'), over('modelBytes'));
      return NativeModel.open(dir);
    },
  ],
  modelValues: [() => readModelJson(`[${'0,'.repeat(over('modelValues'))}0]`, 'model.json')],
  tensorsHeaderBytes: [
    (dir) => {
      const head = Buffer.alloc(8);
      head.writeBigUInt64LE(BigInt(over('tensorsHeaderBytes')));
      return SafetensorsFile.open(sparse(join(dir, 'w'), 2 * over('tensorsHeaderBytes'), head));
    },
  ],
};

for (const [name, attempts] of Object.entries(BEYOND) as [LimitName, readonly Attempt[]][]) {
  t.test(`what is beyond ${name} is refused by that name`, async (t) => {
    for (const [index, attempt] of attempts.entries()) {
      const dir = join(t.testdir({ [index]: {} }), String(index));
      const error = await Promise.resolve()
        .then(() => attempt(dir))
        .catch((thrown: unknown) => thrown);
      t.match(error, { message: new RegExp(`over the limit of ${LIMITS[name]} \\(${name}, see`) });
      if (name !== 'traceValues' && name !== 'probeBytes') t.match(error, { code: /^ML_/ });
    }
  });
}

t.test('just as much as the limits is read', async (t) => {
  const dir = t.testdir();
  t.equal(bundle(dir, numbered(LIMITS.indexEntries - 1, 7)).names().length, LIMITS.indexEntries - 1);
  t.equal(bundle(dir, numbered(1, LIMITS.indexKeyBytes)).names().length, 1);
  t.equal(manifest({ model: 'x'.repeat(LIMITS.nameBytes) }).step, 1);
  t.equal(manifest({ tables: [table('x', [LIMITS.rowFloats])] }).tables.length, 1);
  t.equal(parsePbtxt(`${'a{'.repeat(LIMITS.textDepth)}${'}'.repeat(LIMITS.textDepth)}`, 'text').length, 1);
  const block = snappyCompress(Buffer.alloc(LIMITS.snappyBlockBytes));
  t.equal(snappyUncompress(block).length, LIMITS.snappyBlockBytes);
  t.throws(() => snappyUncompress(block.subarray(0, block.length / 2)), { message: /cannot hold/ });
});

t.test('tensors that lie over each other are refused before they are read', async (t) => {
  const dir = t.testdir();
  sparse(join(dir, 'b.data-00000-of-00001'), 1000);
  const entries = ['a', 'b'].map((name) => [Buffer.from(name), entryOf('uint8', [600], 600)] as const);
  t.throws(() => bundle(dir, entries).read('a'), { code: 'ML_BUNDLE', message: /have 1200 bytes, it has 1000/ });
});
