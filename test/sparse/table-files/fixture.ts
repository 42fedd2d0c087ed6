/** @file Tables without sessions or configs: control blocks written by hand into one or more banks. */
import { type DumpSegment, segmentStateCount, stateCountOf, weightCountOf } from '../../../src/io/optimizer-dump.js';
import { mix64BigInt } from '../../../src/memory/hash.js';
import { OPTIMIZER_NUMBER, PARAMETER_BLOCK } from '../../../src/memory/optimizer-layout.js';
import {
  INITIALIZER,
  idWordOf,
  PARTITION_BYTES,
  PARTITIONS,
  PARTITIONS_LOG2,
  SEGMENT,
  SEGMENT_WORDS,
  SEGMENTS,
  SLOT,
  TABLE,
  TABLE_FLAG,
  tableBytes,
} from '../../../src/memory/table-layout.js';
import { TableMemory } from '../../../src/runtime/tables/table-memory.js';
import { type StoredTable, TableImage } from '../../../src/sparse/files/stored-table.js';

export interface Row {
  readonly id: bigint;
  readonly time: number;
  readonly weights: readonly number[];
  readonly state: readonly number[];
}

export interface FixtureOptions {
  readonly name?: string;
  readonly segments?: readonly DumpSegment[];
  readonly serving?: boolean;
  readonly skipZero?: boolean;
  readonly expireDays?: Uint32Array;
  readonly banks?: number;
  readonly budgetBytes?: number;
  readonly memory?: TableMemory;
}

export class TestTable implements StoredTable {
  readonly name: string;
  readonly memory: TableMemory;
  readonly addresses: readonly number[];
  readonly dumpSegments: readonly DumpSegment[];
  readonly skipZero: boolean;
  readonly expireDays: Uint32Array | null;

  private constructor(memory: TableMemory, options: FixtureOptions) {
    const { name = 'table', serving = false, segments = [{ dim: 2, optimizer: 'adagrad' }] } = options;
    this.name = name;
    this.memory = memory;
    this.dumpSegments = segments;
    this.skipZero = options.skipZero ?? false;
    this.expireDays = options.expireDays ?? null;
    this.addresses = memory.banks.map(({ kernels, views, heap }) => {
      const take = (bytes: number) => kernels.heapAlloc(heap, bytes) >>> 0;
      const dim = weightCountOf(segments);
      const stateFloats = serving ? 0 : stateCountOf(segments);
      const rowBytes = Math.ceil(((dim + stateFloats) * 4) / 16) * 16;
      const address = take(tableBytes(segments.length));
      const words = views.u32.subarray(address / 4);
      words[TABLE.partitionsLog2] = PARTITIONS_LOG2;
      words[TABLE.dim] = dim;
      words[TABLE.stateFloats] = stateFloats;
      words[TABLE.rowBytes] = rowBytes;
      words[TABLE.segments] = segments.length;
      words[TABLE.heap] = heap;
      words[TABLE.seed] = 5;
      words[TABLE.zeroRow] = take(rowBytes);
      words[TABLE.partitions] = take(PARTITION_BYTES * PARTITIONS);
      words[TABLE.flags] = serving ? TABLE_FLAG.serving : TABLE_FLAG.plain;
      words[TABLE.bodyBytes] = (dim + stateFloats) * 4;
      let [weightAt, stateAt] = [0, 0];
      segments.forEach((segment, index) => {
        const at = SEGMENTS + index * SEGMENT_WORDS;
        words[at + SEGMENT.dim] = segment.dim;
        words[at + SEGMENT.weightOffset] = weightAt;
        words[at + SEGMENT.stateOffset] = stateAt;
        words[at + SEGMENT.initializer] = INITIALIZER.uniform;
        views.f32.set([-1, 1], address / 4 + at + SEGMENT.initialA);
        words[at + SEGMENT.optimizer] = OPTIMIZER_NUMBER[segment.optimizer];
        words[at + SEGMENT.bodyOffset] = weightAt * 4;
        views.f32[address / 4 + at + SEGMENT.parameters + PARAMETER_BLOCK.initial / 4] = 0.5;
        weightAt += segment.dim;
        stateAt += serving ? 0 : segmentStateCount(segment);
      });
      return address;
    });
  }

  static async create(options: FixtureOptions = {}): Promise<TestTable> {
    const { banks = 1, budgetBytes = 32 << 20 } = options;
    const memory =
      options.memory ??
      (await TableMemory.create({ budgetBytes, bankBytes: Math.ceil(budgetBytes / banks / 65536) * 65536 + 65536 }));
    return new TestTable(memory, options);
  }

  get image(): TableImage {
    return new TableImage(this);
  }

  /** Puts rows in, over what is there. */
  put(rows: readonly Row[]): void {
    const { dim, stateFloats } = this.image;
    for (const { id, time, weights, state } of rows) {
      const bank = this.memory.bankOf(Number(mix64BigInt(id) >> BigInt(64 - PARTITIONS_LOG2)));
      const { views, kernels, heap } = this.memory.banks[bank]!;
      const at = kernels.heapAlloc(heap, 64) >>> 0;
      views.i64[at / 8] = id;
      views.u32[at / 4 + 4] = time;
      if (kernels.tableUpsert(this.addresses[bank]!, at, 1, at + 8, at + 16) !== 1) throw new Error('the heap is full');
      const row = views.u32[at / 4 + 2]! / 4;
      views.f32.set(weights.slice(0, dim), row);
      views.f32.set(state.slice(0, stateFloats), row + dim);
      kernels.heapFree(heap, at, 64);
      this.image.raiseMaxUpdateSec(time);
    }
  }

  /** All rows, in the order of their ids. */
  rows(): Row[] {
    const { image } = this;
    const found: Row[] = [];
    for (let p = 0; p < PARTITIONS; p++) {
      const { u32, i64, f32 } = this.memory.banks[this.memory.bankOf(p)]!.views;
      const slots = new Uint32Array(image.rowsOf(p));
      image.scan(p, slots);
      for (const slot of slots) {
        const row = u32[(slot + SLOT.row) / 4]! / 4;
        found.push({
          id: i64[idWordOf(slot)]!,
          time: u32[(slot + SLOT.time) / 4]!,
          weights: [...f32.subarray(row, row + image.dim)],
          state: [...f32.subarray(row + image.dim, row + image.dim + image.stateFloats)],
        });
      }
    }
    return found.sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

/** `count` rows of ids that jump about, with values that tell them apart. */
export function sampleRows(count: number, segments: readonly DumpSegment[], first = 0): Row[] {
  const [weights, states] = [weightCountOf(segments), stateCountOf(segments)];
  return Array.from({ length: count }, (_, i) => ({
    id: BigInt.asIntN(64, BigInt(first + i) * 0x9e3779b97f4a7c15n),
    time: 1_700_000_000 + i,
    weights: Array.from({ length: weights }, (_, c) => Math.fround((first + i + 1) / (c + 3))),
    state: Array.from({ length: states }, (_, c) => Math.fround(-(first + i + 2) / (c + 5))),
  }));
}
