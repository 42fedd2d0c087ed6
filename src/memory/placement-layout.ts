/**
 * @file What a program for two memories says of the first one, beside its code; runtime/backends/cuda writes it.
 *
 * ```
 * record, u32 words:    | 0 residents | 1 their count | 2 blocks | 3 their count | 4 fetched | 5 their count |
 *                       | 6 host names | 7 their count | 8 tables | 9 their count | 10 results | 11 their count |
 * blocks:               begins of the arena's blocks, ascending, and the end of the last
 * host names:           trace names of instructions that must not run on the device
 * fetched:              addresses inside blocks that the main thread reads after a step
 * tables:               addresses of the records of tables on the device; see device-table-layout.ts
 * results:              registers of slice code that some part of the step writes
 * resident, 4 words:    | address | validity | device address, low | high |
 * ```
 * Residents are variables, whose newest values may be on the device only. The thread that runs steps and the main
 * thread both read and write their validity, but never at once: the main thread waits for steps.
 */
export const PLACEMENT = {
  residents: 0,
  residentCount: 1,
  blocks: 2,
  blockCount: 3,
  fetched: 4,
  fetchedCount: 5,
  hostNames: 6,
  hostNameCount: 7,
  tables: 8,
  tableCount: 9,
  results: 10,
  resultCount: 11,
} as const;
export const PLACEMENT_WORDS = 12;

export const RESIDENT = { address: 0, validity: 1, deviceLow: 2, deviceHigh: 3 } as const;
export const RESIDENT_WORDS = 4;

/** Which copies of a block hold its newest values. */
export const ON_HOST = 1;
export const ON_DEVICE = 2;
