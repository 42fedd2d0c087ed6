/** @file Exports of assembly/touched: the touched-key set. `set` is the pointer `createTouchedKeys` was given. */
export interface TouchedKernels {
  createTouchedKeys(
    set: number,
    capacity: number,
    buckets: number,
    locks: number,
    overflowSlots: number,
    laneCount: number,
  ): number;
  insertTouchedKeys(set: number, keys: number, count: number, scratch: number): number;
  countTouchedKeys(set: number): number;
  capacityOfTouchedKeys(set: number): number;
  countTouchedClears(set: number): number;
  countTouchedOverflow(set: number): number;
  stealTouchedKeys(set: number, out: number, outCount: number): number;
  beginSteal(set: number): number;
  stolenTouchedKeys(set: number): number;
  endSteal(set: number): void;
  acquireTouchedLane(set: number): number;
  releaseTouchedLane(lane: number): void;
}
