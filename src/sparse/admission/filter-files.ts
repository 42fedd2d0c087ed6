/**
 * @file Sliding filters on disk: one record file per split, its geometry first, then its cells in chunks.
 *
 * Files appear under their names only when they are whole. A restore reads all of them before it changes anything, so
 * that a damaged set leaves the filter as it was.
 */
import { basename, dirname, join } from 'node:path';
import { MonolithError, messageOf } from '../../base/errors.js';
import { cleanUp, FileSink, writeError } from '../../base/files/atomic-file.js';
import { type FileSystem, nodeFileSystem } from '../../base/files/file-system.js';
import { shardTemporaryName } from '../../base/files/temporary-names.js';
import { decodeMessage, double, encodeMessage, int, message, sub } from '../../io/message.js';
import { ProtoReader } from '../../io/proto-reader.js';
import { ProtoWriter, WIRE_VARINT } from '../../io/proto-writer.js';
import { RecordReader } from '../../io/record-reader.js';
import { RecordWriter } from '../../io/record-writer.js';
import { shardFileName, validateShardedFiles } from '../../io/shard-files.js';
import type { AdmissionFilter } from './filter-memory.js';
import { HashFilter } from './hash-filter.js';

const CELLS_PER_RECORD = 10000;

export const SlidingHashFilterMetaMessage = message('SlidingHashFilterMetaDump', {
  splitNum: int(1),
  maxForwardStep: int(2),
  maxBackwardStep: int(3),
  maxStep: int(4),
  head: int(5),
  headIncrement: int(6),
  failureCount: int(7),
});

export const HashFilterSplitMetaMessage = message('HashFilterSplitMetaDump', {
  failureCount: int(1),
  totalSize: int(2),
  numElements: int(3),
  fillRate: double(4),
  slidingHashFilterMeta: sub(5, SlidingHashFilterMetaMessage),
});

export interface FilterFile {
  readonly file: string;
  readonly bytes: number;
  /** CRC-32C of all of it. */
  readonly crc: number;
}

/** Writes the files of `filter` next to `base` and returns their names; a filter without state has none. */
export async function saveFilter(filter: AdmissionFilter, base: string, fs = nodeFileSystem): Promise<string[]> {
  return (await writeFilter(filter, base, fs)).map(({ file }) => file);
}

/** saveFilter, with size and checksum of each file. */
export async function writeFilter(filter: AdmissionFilter, base: string, fs = nodeFileSystem): Promise<FilterFile[]> {
  if (!(filter instanceof HashFilter)) return [];
  const { splits } = filter.geometry;
  const files: FilterFile[] = [];
  await fs.makeDirectory(dirname(base));
  for (let split = 0; split < splits; split++) {
    const file = shardFileName(base, split, splits);
    files.push({ file, ...(await writeSplit(filter, split, file, fs)) });
  }
  await fs.syncDirectory(dirname(base));
  return files;
}

async function writeSplit(
  filter: HashFilter,
  split: number,
  file: string,
  fs: FileSystem,
): Promise<Omit<FilterFile, 'file'>> {
  const temporary = shardTemporaryName(file);
  let written: Omit<FilterFile, 'file'>;
  try {
    const sink = await FileSink.create(temporary, fs);
    try {
      const records = new RecordWriter(sink);
      await records.write(encodeMessage(HashFilterSplitMetaMessage, metaOf(filter, split)));
      const cells = filter.cells(split);
      for (let offset = 0; offset < cells.length; offset += CELLS_PER_RECORD) {
        await records.write(encodeCells(offset, cells.subarray(offset, offset + CELLS_PER_RECORD)));
      }
      await records.flush();
      await sink.finish();
      written = { bytes: sink.sizeBytes, crc: sink.crc };
    } finally {
      await sink.close();
    }
    await fs.rename(temporary, file);
    return written;
  } catch (cause) {
    throw await cleanUp(writeError(file, cause), () => fs.remove(temporary));
  }
}

function metaOf(filter: HashFilter, split: number) {
  const { totalSize, fillRate, splits, forward, backward, steps } = filter.geometry;
  return {
    failureCount: 0,
    totalSize,
    numElements: filter.splitElements[split]!,
    fillRate,
    slidingHashFilterMeta: {
      splitNum: splits,
      maxForwardStep: forward,
      maxBackwardStep: backward,
      maxStep: steps,
      head: filter.word('head'),
      headIncrement: filter.word('headIncrement'),
      failureCount: Number(filter.failureCount),
    },
  };
}

/** HashFilterSplitDataDump: 1 offset, 2 data (not packed). */
function encodeCells(offset: number, cells: Uint16Array | Uint8Array): Uint8Array {
  const writer = new ProtoWriter(cells.length * 4 + 16).tag(1, WIRE_VARINT).varint(offset);
  for (const cell of cells) writer.tag(2, WIRE_VARINT).varint(cell);
  return writer.finish();
}

interface LoadedSplit {
  readonly numElements: number;
  readonly head: number;
  readonly headIncrement: number;
  readonly failureCount: number;
  readonly cells: Uint16Array | Uint8Array;
}

/** Puts the saved state back. ML_FILTER_FILE for files of another geometry, ML_CKPT_SHARDS for an incomplete set. */
export async function restoreFilter(filter: AdmissionFilter, base: string, fs = nodeFileSystem): Promise<void> {
  (await readFilter(filter, base, fs))();
}

/** Reads and checks a saved state; what it returns puts that state back and cannot fail. */
export async function readFilter(filter: AdmissionFilter, base: string, fs = nodeFileSystem): Promise<() => void> {
  if (!(filter instanceof HashFilter)) return () => undefined;
  const names = (await listFiles(base, fs)).filter((name) => name.startsWith(basename(base)));
  const files = validateShardedFiles(basename(base), names).map((name) => join(dirname(base), name));
  const loaded = files.map((file) => readSplit(filter, file));
  if (loaded.length !== filter.geometry.splits) mismatch('split_num', filter.geometry.splits, loaded.length);
  return () => {
    loaded.forEach(({ cells, numElements }, split) => {
      filter.cells(split).set(cells);
      filter.splitElements[split] = numElements;
    });
    const { head, headIncrement, failureCount } = loaded[0]!;
    filter.setWord('head', head);
    filter.setWord('headIncrement', headIncrement);
    filter.failureCount = BigInt(failureCount);
  };
}

async function listFiles(base: string, fs: FileSystem): Promise<string[]> {
  try {
    return await fs.list(dirname(base));
  } catch (cause) {
    throw new MonolithError('ML_FILE_READ', { file: dirname(base), reason: messageOf(cause) }, { cause });
  }
}

function readSplit(filter: HashFilter, file: string): LoadedSplit {
  const reader = new RecordReader(file);
  const fail = (field: string, reason: string): never => {
    throw new MonolithError('ML_RECORD', { file, record: reader.record, field, reason });
  };
  try {
    const first = reader.next();
    if (first === null) return fail('payload', 'the file has no metadata');
    const meta = decodeMessage(HashFilterSplitMetaMessage, first);
    const sliding = meta.slidingHashFilterMeta ?? {};
    const { splits, forward, backward, steps, totalSize, capacity } = filter.geometry;
    check('split_num', splits, sliding.splitNum);
    check('max_forward_step', forward, sliding.maxForwardStep);
    check('max_backward_step', backward, sliding.maxBackwardStep);
    check('max_step', steps, sliding.maxStep);
    check('total_size', totalSize, meta.totalSize);
    const { head = 0, headIncrement = 0, failureCount = 0 } = sliding;
    const { numElements = 0 } = meta;
    if (head >= splits || numElements > capacity)
      fail('payload', `head ${head} or elements ${numElements} out of range`);
    const cells = filter.cells(0).slice().fill(0);
    let filled = 0;
    for (let payload = reader.next(); payload !== null; payload = reader.next()) {
      filled += readCells(payload, cells, fail);
    }
    if (filled !== cells.length) fail('payload', `the file has ${filled} cells, not ${cells.length}`);
    return { numElements, head, headIncrement, failureCount, cells };
  } finally {
    reader.close();
  }
}

function readCells(
  payload: Uint8Array,
  cells: Uint16Array | Uint8Array,
  fail: (field: string, reason: string) => never,
) {
  const reader = new ProtoReader(payload);
  const limit = 2 ** (8 * cells.BYTES_PER_ELEMENT);
  let offset = 0;
  // In an array of the cells there are: a message may have many times as many.
  const data = new Uint16Array(cells.length);
  let count = 0;
  const add = (cell: number): void => {
    if (count === cells.length) fail('data', `there are more than ${cells.length} cells`);
    if (cell < 0 || cell >= limit) fail('data', `a cell is not below ${limit}`);
    data[count++] = cell;
  };
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) offset = reader.uint();
    else if (field === 2 && reader.wire === WIRE_VARINT) add(reader.int32());
    else if (field === 2) {
      for (const packed = reader.packed(WIRE_VARINT); !packed.done; ) add(packed.int32());
    } else reader.skip();
  }
  if (offset + count > cells.length) fail('offset', `${offset} and ${count} cells go beyond ${cells.length}`);
  cells.set(data.subarray(0, count), offset);
  return count;
}

function check(field: string, expected: number, found = 0): void {
  if (expected !== found) mismatch(field, expected, found);
}

function mismatch(field: string, expected: number, found: number): never {
  throw new MonolithError('ML_FILTER_FILE', { field, expected, found });
}
