/** @file Exports of assembly/touched: the touched-key set. `set` is the pointer that the set was created at. */
type Create = (
  set: number,
  capacity: number,
  buckets: number,
  locks: number,
  overflowSlots: number,
  laneCount: number,
) => number;

export interface TouchedKernels {
  readonly createTouchedKeys: Create;
  readonly createTouchedPairs: Create;
  insertTouchedKeys(set: number, keys: number, count: number, scratch: number): number;
  insertTouchedPairs(set: number, ids: number, count: number, tableIndex: number, scratch: number): number;
  countTouchedKeys(set: number): number;
  capacityOfTouchedKeys(set: number): number;
  countTouchedClears(set: number): number;
  countTouchedOverflow(set: number): number;
  stealTouchedKeys(set: number, out: number, outCount: number): number;
  beginSteal(set: number): number;
  stolenTouchedKeys(set: number): number;
  endSteal(set: number): void;
  beginStealPairs(set: number): number;
  endStealPairs(set: number): void;
  acquireTouchedLane(set: number): number;
  releaseTouchedLane(lane: number): void;
}
