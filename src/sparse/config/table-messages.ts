/**
 * @file Checks, printing and merging of table config messages, apart from the table that is made of them.
 */
import { createHash } from 'node:crypto';
import { MonolithError } from '../../base/errors.js';
import { printRate, type Rate } from '../../base/rates/rate.js';
import { encodeMessage, printMessage, valueOr } from '../../io/message.js';
import {
  type EmbeddingHashTableConfig,
  EmbeddingHashTableConfigMessage,
  ENTRY_TYPE,
  EntryConfigMessage,
  type Segment,
  SegmentMessage,
} from './config-messages.js';

/** Entry type and segments of a table config, after the checks of upstream's factories. */
export function checkTableConfig(config: EmbeddingHashTableConfig): void {
  if (config.cuckoo === undefined) {
    throw new MonolithError('ML_TABLE_TYPE', { config: printMessage(EmbeddingHashTableConfigMessage, config) });
  }
  const entry = config.entryConfig ?? {};
  const serving = valueOr(EntryConfigMessage, entry, 'entryType') === ENTRY_TYPE.serving;
  if (config.skipZeroEmbedding === true && !serving) throw new MonolithError('ML_TABLE_SKIP_ZERO');
  const printed = printMessage(EntryConfigMessage, entry);
  for (const segment of entry.segments ?? []) {
    if (serving && segment.compConfig === undefined) throw new MonolithError('ML_ENTRY_COMP', { config: printed });
    if (!serving && (segment.initConfig === undefined || segment.optConfig === undefined)) {
      throw new MonolithError('ML_ENTRY_INIT_OPT', { config: printed });
    }
  }
}

/** ML_ENTRY_DIMS unless initializer, optimizer and retriever have one dimension. */
export function checkPartDims(initializer: number, optimizer: number, retriever: number): void {
  if (initializer === optimizer && optimizer === retriever) return;
  throw new MonolithError('ML_ENTRY_DIMS', { initializer, optimizer, retriever });
}

export interface RatedSegment {
  readonly segment: Segment;
  readonly rate: Rate;
}

export interface MergedSegments {
  readonly merged: readonly RatedSegment[];
  /** Dimensions before merging, for splitting rows into slices. */
  readonly dims: readonly number[];
}

/** Joins neighbours that are equal apart from their dimension and whose rates print equally. */
export function mergeSegments(segments: readonly RatedSegment[]): MergedSegments {
  const merged: RatedSegment[] = [];
  let last = '';
  for (const { segment, rate } of segments) {
    const { dimSize = 0, ...rest } = segment;
    const key = `${printMessage(SegmentMessage, rest)}|${printRate(rate)}`;
    const before = merged.at(-1);
    if (before !== undefined && key === last) {
      merged[merged.length - 1] = { segment: { ...rest, dimSize: (before.segment.dimSize ?? 0) + dimSize }, rate };
    } else merged.push({ segment: { ...rest, dimSize }, rate });
    last = key;
  }
  return { merged, dims: segments.map(({ segment }) => segment.dimSize ?? 0) };
}

/** Printed form of a table: slots that print equally share one table. The serialized config is shown as latin1 text. */
export function printTable(config: EmbeddingHashTableConfig, rates: readonly Rate[]): string {
  const bytes = Buffer.from(encodeMessage(EmbeddingHashTableConfigMessage, config)).toString('latin1');
  return `TableConfigPB: ${bytes}, LearningRateFns: [${rates.map(printRate).join(', ')}]`;
}

/** Name of the table that the slots of these names share, and the name older checkpoints may have it under. */
export function mergedTableNames(slotNames: readonly string[]): { name: string; extraRestoreNames: string[] } {
  const md5 = (names: readonly string[]) =>
    createHash('md5')
      .update([...names].sort().join(','))
      .digest('hex');
  const stripped = slotNames.map((name) => name.replace(/^fc_(?=slot_\d+$)/, ''));
  const changed = stripped.some((name, i) => name !== slotNames[i]);
  return { name: md5(slotNames), extraRestoreNames: changed ? [md5(stripped)] : [] };
}
