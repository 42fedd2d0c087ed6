/** @file Writes the plan of a table's messages into a bank (memory/dump-layout.ts draws it). */
import { crc32c, maskedCrc32c } from '../../base/crc32c.js';
import { constantPositions, type EntryLayout, type EntryRun, entryLayout } from '../../io/entry-layout.js';
import { RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES } from '../../io/record-writer.js';
import {
  CRC_SHIFT_BYTES,
  CRC_TABLES_BYTES,
  DUMP_PLAN,
  DUMP_PLAN_RUNS,
  DUMP_RUN_WORDS,
  LANE_SET_BYTES,
  TIME_BYTES_MAX,
} from '../../memory/dump-layout.js';
import type { BankScratch } from './bank-scratch.js';
import { laneSet } from './lane-tables.js';
import type { TableImage } from './stored-table.js';

export interface DumpPlan {
  /** 0 when the heap has no room for it. */
  readonly address: number;
  /** Bytes of the largest record of a row. */
  readonly maxRecordBytes: number;
}

/** The plan of `image`, or null when its messages have no fixed shape. */
export function writeDumpPlan(image: TableImage, scratch: BankScratch): DumpPlan | null {
  const layout = image.isServing ? servingLayout(image) : entryLayout(image.table.dumpSegments);
  if (!layout.isFixed) return null;
  const { template } = layout;
  const runs = layout.runs.filter((run) => run.count > 0);
  const fixed = template.length;
  const padded = Math.ceil(fixed / 64) * 64;
  const headBytes = Math.ceil((4 * (DUMP_PLAN_RUNS + DUMP_RUN_WORDS * runs.length)) / 64) * 64;
  const maxRecordBytes = RECORD_HEADER_BYTES + fixed + TIME_BYTES_MAX + RECORD_FOOTER_BYTES;
  const shiftsBytes = TIME_BYTES_MAX * CRC_SHIFT_BYTES;
  const setsBytes = (2 + runs.length) * LANE_SET_BYTES;
  const address = scratch.alloc(headBytes + CRC_TABLES_BYTES + shiftsBytes + setsBytes + 2 * padded);
  if (address === 0) return { address, maxRecordBytes };
  const { views, kernels } = scratch.bank;
  const tablesAt = address + headBytes;
  const shiftsAt = tablesAt + CRC_TABLES_BYTES;
  const setsAt = shiftsAt + shiftsBytes;
  const templateAt = setsAt + setsBytes;
  const maskAt = templateAt + padded;
  kernels.crc32cTables(tablesAt);
  views.u8.set(template, templateAt);
  for (const at of constantPositions(fixed, runs)) views.u8[maskAt + at] = 0xff;
  const words = views.u32.subarray(address / 4);
  words[DUMP_PLAN.tables] = tablesAt;
  words[DUMP_PLAN.fixedBytes] = fixed;
  words[DUMP_PLAN.template] = templateAt;
  words[DUMP_PLAN.mask] = maskAt;
  words[DUMP_PLAN.runs] = runs.length;
  words[DUMP_PLAN.rowBytes] = image.rowBytes;
  words[DUMP_PLAN.templateCrc] = ~crc32c(template);
  words[DUMP_PLAN.skips] = image.isServing ? 1 : 0;
  words[DUMP_PLAN.shifts] = shiftsAt;
  words[DUMP_PLAN.laneSets] = setsAt;
  for (let i = 0; i < TIME_BYTES_MAX; i++) {
    const size = fixed + i + 1;
    const header = headerOf(size);
    words[DUMP_PLAN.sizeCrc + i] = new DataView(header.buffer).getUint32(8, true);
    // What is left when the checksum of zeros is taken out is the header's, as far as the payload moves it on.
    words[DUMP_PLAN.headerCrc + i] = crc32c(new Uint8Array(size), crc32c(header)) ^ crc32c(new Uint8Array(size));
    const recordBytes = RECORD_HEADER_BYTES + size + RECORD_FOOTER_BYTES;
    kernels.crc32cShift(tablesAt, shiftsAt + i * CRC_SHIFT_BYTES, recordBytes);
  }
  const gaps = runs.map((run, index) => {
    const next = runs[index + 1];
    return Math.max(1, (next === undefined ? fixed : next.at + 1) - (run.at + 5 * run.count));
  });
  runs.forEach((run, index) => {
    const offset = run.ofState ? image.dim + run.index : run.index;
    words.set([offset * 4, run.count, run.at + 1, gaps[index]! - 1], DUMP_PLAN_RUNS + index * DUMP_RUN_WORDS);
  });
  // The halves of an id follow each other; other words have a tag behind them.
  [0, 1, ...gaps].forEach((gap, index) => {
    views.u8.set(laneSet(gap), setsAt + index * LANE_SET_BYTES);
  });
  return { address, maxRecordBytes };
}

/** Id and weights; what follows is up to whoever wrote the row. */
function servingLayout({ dim }: TableImage): EntryLayout {
  const { template } = entryLayout([{ dim, optimizer: 'sgd' }]);
  const runs: EntryRun[] = [{ at: 9, count: dim, ofState: false, index: 0 }];
  return { template: template.slice(0, 9 + 5 * dim), runs, isFixed: true };
}

function headerOf(payloadBytes: number): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(RECORD_HEADER_BYTES);
  const view = new DataView(header.buffer);
  view.setUint32(0, payloadBytes, true);
  view.setUint32(8, maskedCrc32c(header.subarray(0, 8)), true);
  return header;
}
