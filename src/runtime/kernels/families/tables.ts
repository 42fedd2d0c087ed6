/** @file Kernels over tables, filters and sets of touched ids. */
import { family, kernel } from '../kernel.js';
import { count, handle, i64, matrix, read, records, scratch, u32, update, write } from '../operand.js';

/** Updates of the partitions from `first` to `end`: the records of all slices. */
const UPDATES = { table: handle, first: count, end: count, slices: records, sliceCount: count } as const;
const APPLY = { ...UPDATES, merged: scratch, timeSec: count } as const;
const FOUND = 'ids that were found';

export const TABLES = family('table', {
  tableFind: kernel(
    'rows and slots of ids, the zero row for absent ones',
    { table: handle, ids: i64(read), n: count, rows: u32(write), slots: u32(write) },
    { result: FOUND },
  ),
  tableRetrieve: kernel(
    'out[i,:] = what a lookup of id i shows',
    { table: handle, ids: i64(read), n: count, out: matrix.write, scratch },
    { result: FOUND, extents: { out: [4, 'n', 'outStride'] } },
  ),
  tableApply: kernel('sums gradients per id over slices and steps each row once', APPLY, {
    result: '0, or a negative status',
  }),
  tableAdmit: kernel('ids that the filter keeps out go to the sink', UPDATES, { result: 'how many went there' }),
  tableTouch: kernel(
    'ids that got a step go to a set of touched pairs',
    { ...UPDATES, set: handle, tableIndex: count, buffer: scratch },
    { result: 'how many went there, or a negative status' },
  ),
});

/** A route, by the partitions of a thread. */
const ROUTED = { route: records, first: count, end: count } as const;

export const ROUTES = family('table', {
  routeGroups: kernel('unique ids of all slices by partition, and how many of them each owner has', ROUTED),
  routeIds: kernel('ids of all slices, each once and by owner, and where slices find theirs', {
    ...ROUTED,
    cursors: scratch,
  }),
  rowsOfRoute: kernel('addresses of the rows of the ids of a slice', {
    place: u32(read),
    n: count,
    rows: handle,
    stride: count,
    out: u32(write),
  }),
  mergeRoute: kernel('sums of gradients per id over all slices', { ...ROUTED, sums: records }),
  countsOfRoute: kernel('counts = 0 for the ids of a slice that have a row', {
    place: u32(read),
    n: count,
    merged: u32(read),
    counts: u32(update),
  }),
});

export const FILTERS = family('filter', {
  filterAsk: kernel('which ids without a row the filter keeps out, marked in their counts', {
    filter: handle,
    thresholds: handle,
    ids: i64(read),
    n: count,
    slots: u32(read),
    counts: u32(update),
  }),
  filterCount: kernel('counts the sightings of all ids that asked', {
    partitions: count,
    filter: handle,
    thresholds: handle,
    slices: records,
    sliceCount: count,
  }),
});

/** What a program asks its thread for, because the rows are in other memories. */
export const BANKS = family('host', {
  bankedFind: kernel(
    'rows of ids in other memories, copied to a local buffer',
    {
      record: handle,
      ids: i64(read),
      order: u32(read),
      offsets: u32(read),
      rows: u32(write),
      local: write,
    },
    { result: FOUND },
  ),
  bankedApply: kernel(
    'tableApply of a table in other memories',
    {
      record: handle,
      first: count,
      end: count,
      slices: records,
      sliceCount: count,
      gathered: scratch,
      timeSec: count,
    },
    { result: '0, or a negative status' },
  ),
});
