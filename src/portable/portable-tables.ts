/**
 * @file Tables of a model as a file has them: what lookups need of a table, which is the widths of its segments and how
 * serving keeps them. Optimizers, initializers and admission stay behind: nothing is learnt there.
 */
import { checkLimit } from '../base/limits.js';
import { misfit } from '../graph/graph.js';
import type { FloatCompressorMessage } from '../sparse/config/config-messages.js';
import { ZerosInitializer } from '../sparse/config/initializers.js';
import {
  FixedR8Compressor,
  Fp16Compressor,
  Fp32Compressor,
  OneBitCompressor,
  SgdOptimizer,
} from '../sparse/config/optimizers.js';
import { defineTable, type TableConfig } from '../sparse/config/table-config.js';
import { Attributes, type JsonObject, type JsonValue } from './attributes.js';

/** How floats of a row are kept: as they are, as halves, in a byte each, or in a bit each. */
export const COMPRESSORS = ['fp32', 'fp16', 'fixed_r8', 'one_bit'] as const;
export type CompressorName = (typeof COMPRESSORS)[number];

/** A run of columns of a table. */
export interface PortableSegment {
  readonly dim: number;
  readonly compressor: CompressorName;
  /** Of `fixed_r8`: the largest magnitude that a byte can say. */
  readonly range?: number;
  /** Of `one_bit`: steps between two growths of the scale, and its factor. */
  readonly stepSize?: number;
  readonly amplitude?: number;
}

export interface PortableTable {
  readonly name: string;
  readonly segments: readonly PortableSegment[];
}

/** What a file says of a table. `compressor` is in place of those of its segments. */
export function portableTable({ name, instance }: TableConfig, compressor?: CompressorName): PortableTable {
  const segments = instance.segments.map(({ dimSize = 0, compConfig = {} }) =>
    compressor === undefined ? segmentOf(dimSize, compConfig) : segmentOf(dimSize, MESSAGES[compressor]()),
  );
  return { name, segments };
}

const MESSAGES: Readonly<Record<CompressorName, () => FloatCompressorMessage>> = {
  fp32: Fp32Compressor,
  fp16: Fp16Compressor,
  fixed_r8: FixedR8Compressor,
  one_bit: OneBitCompressor,
};

function segmentOf(dim: number, { fp16, fixedR8, oneBit }: FloatCompressorMessage): PortableSegment {
  if (fp16 !== undefined) return { dim, compressor: 'fp16' };
  if (fixedR8 !== undefined) return { dim, compressor: 'fixed_r8', range: fixedR8.r ?? 1 };
  if (oneBit === undefined) return { dim, compressor: 'fp32' };
  const { stepSize = 200, amplitude = 0.1 } = oneBit;
  return { dim, compressor: 'one_bit', stepSize, amplitude };
}

/** The table that serves it. */
export function servingTable({ name, segments }: PortableTable): TableConfig {
  return defineTable(
    name,
    segments.map((segment) => ({
      dim: segment.dim,
      initializer: ZerosInitializer(),
      optimizer: SgdOptimizer(),
      compressor: compressorOf(segment),
    })),
    { entryType: 'serving' },
  );
}

function compressorOf({ compressor, range, stepSize, amplitude }: PortableSegment): FloatCompressorMessage {
  switch (compressor) {
    case 'fixed_r8':
      return FixedR8Compressor(range);
    case 'one_bit':
      return OneBitCompressor(stepSize, amplitude);
    case 'fp16':
      return Fp16Compressor();
    case 'fp32':
      return Fp32Compressor();
    default:
      return compressor satisfies never;
  }
}

/** Tables of a file, by name; ML_GRAPH for what is none. */
export function readTables(list: readonly JsonValue[]): Map<string, PortableTable> {
  checkLimit('tables', list.length, (reason) => {
    throw misfit('tables', reason);
  });
  const tables = new Map<string, PortableTable>();
  for (const item of new Attributes('tables', { list }).list('list')) {
    const table = readTable(item);
    if (tables.has(table.name)) item.refuse('name', `is that of two tables, ${table.name}`);
    tables.set(table.name, table);
  }
  return tables;
}

function readTable(given: Attributes): PortableTable {
  const name = given.get('name');
  if (typeof name !== 'string' || name === '' || name.length > 1024) return given.refuse('name', 'is no name');
  const segments = given.list('segments');
  checkLimit('rowSegments', segments.length, (reason) => given.refuse('segments', reason));
  if (segments.length === 0) given.refuse('segments', 'is empty');
  return { name, segments: segments.map(readSegment) };
}

function readSegment(given: Attributes): PortableSegment {
  const [dim, compressor] = [given.whole('dim', 1, 2 ** 17), given.choice('compressor', COMPRESSORS)];
  const positive = (name: string) => {
    const value = given.number(name);
    return value > 0 ? value : given.refuse(name, 'must be above 0');
  };
  if (compressor === 'fixed_r8') return { dim, compressor, range: positive('range') };
  if (compressor !== 'one_bit') return { dim, compressor };
  return { dim, compressor, stepSize: given.whole('stepSize', 1), amplitude: positive('amplitude') };
}

/** Floats of a row. */
export const rowDim = ({ segments }: PortableTable): number => segments.reduce((sum, { dim }) => sum + dim, 0);

/** The same as plain data. */
export const tableJson = ({ name, segments }: PortableTable): JsonObject => ({
  name,
  segments: segments.map((segment) => ({ ...segment })),
});
