/**
 * @file Plans the copies of a step whose works run in two memories: what must be moved, and the earliest moment for it.
 *
 * Pure: works go in with the blocks they read and write, a list of entries comes out that a step repeats as it is. A
 * block follows the rules of a cache line: whoever touches it needs its newest values first, even to write, since a
 * part may stay; and a write makes the other copy old. A copy starts right after the work that wrote the values, and
 * whoever needs it waits as late as possible, so that copies and computing run side by side.
 */

export type Side = 'host' | 'device';

/** Bytes from the start of a block that hold values in a step: `scale` times the u32 at each of `words`. */
export interface Extent {
  readonly scale: number;
  readonly words: readonly number[];
}

export interface Access {
  readonly block: number;
  readonly writes: boolean;
  /**
   * Of a write: how much of the block there is afterwards. `within` leaves that as it was, nothing means all of it.
   */
  readonly extent?: Extent | 'within';
}

export interface Work {
  readonly side: Side;
  readonly accesses: readonly Access[];
}

export interface Copy {
  readonly block: number;
  readonly to: Side;
  readonly extent?: Extent;
  /** The copy overwrites what works of this step, started before it, still use. */
  readonly afterWorks: boolean;
}

export type PlanEntry =
  | { readonly kind: 'work'; readonly work: number }
  | { readonly kind: 'copy'; readonly copy: number }
  /** That side goes on only when the copy is there. */
  | { readonly kind: 'wait'; readonly side: Side; readonly copy: number };

export interface StepPlan {
  readonly entries: readonly PlanEntry[];
  readonly copies: readonly Copy[];
  /** Blocks whose newest values must be on a side when the step starts. */
  readonly needs: Readonly<Record<Side, readonly number[]>>;
  /** Blocks that the step writes, and the sides that have the newest values after it. */
  readonly leaves: readonly { readonly block: number; readonly host: boolean; readonly device: boolean }[];
}

interface BlockState {
  /** Which copies are known to be new; before a write of this step, also by way of `needs`. */
  readonly valid: Record<Side, boolean>;
  /** The last work that wrote it. */
  written: number | null;
  extent: Extent | undefined;
  /** Copies that a side has not waited for. */
  readonly arriving: Record<Side, number | null>;
  /** A copy to the host that still reads the device's values. */
  leaving: number | null;
  onDeviceBefore: boolean;
}

const other = (side: Side): Side => (side === 'host' ? 'device' : 'host');

export function planStep(works: readonly Work[]): StepPlan {
  const states = new Map<number, BlockState>();
  const copies: Copy[] = [];
  const needs: Record<Side, number[]> = { host: [], device: [] };
  const before: PlanEntry[][] = works.map(() => []);
  const after: PlanEntry[][] = works.map(() => []);

  const stateOf = (block: number): BlockState => {
    let state = states.get(block);
    if (state === undefined) {
      const none = { host: null, device: null };
      const valid = { host: false, device: false };
      const fresh = { extent: undefined, leaving: null, onDeviceBefore: false };
      state = { valid, written: null, arriving: { ...none }, ...fresh };
      states.set(block, state);
    }
    return state;
  };

  const bring = (state: BlockState, block: number, side: Side): void => {
    state.valid[side] = true;
    if (state.written === null) {
      needs[side].push(block);
      return;
    }
    const { extent } = state;
    const afterWorks = side === 'device' && state.onDeviceBefore;
    const copy = copies.push({ block, to: side, afterWorks, ...(extent && { extent }) }) - 1;
    after[state.written]!.push({ kind: 'copy', copy });
    state.arriving[side] = copy;
    if (side === 'host') state.leaving = copy;
  };

  works.forEach(({ side, accesses }, index) => {
    for (const { block } of accesses) {
      const state = stateOf(block);
      if (!state.valid[side]) bring(state, block, side);
      if (state.arriving[side] !== null) before[index]!.push({ kind: 'wait', side, copy: state.arriving[side] });
      state.arriving[side] = null;
    }
    for (const { block, writes, extent } of accesses) {
      const state = stateOf(block);
      if (side === 'device') state.onDeviceBefore = true;
      if (!writes) continue;
      if (side === 'device' && state.leaving !== null) {
        before[index]!.push({ kind: 'wait', side, copy: state.leaving });
        state.leaving = null;
      }
      state.valid[other(side)] = false;
      state.arriving[other(side)] = null;
      // What one work of a step wrote, another must not cut off.
      if (extent !== 'within')
        state.extent = state.written === null || sameExtent(state.extent, extent) ? extent : undefined;
      state.written = index;
    }
  });

  const entries = works.flatMap((_, work) => [...before[work]!, { kind: 'work', work } as const, ...after[work]!]);
  const leaves = [...states]
    .filter(([, { written }]) => written !== null)
    .map(([block, { valid }]) => ({ block, ...valid }));
  return { entries, copies, needs, leaves };
}

function sameExtent(a: Extent | undefined, b: Extent | undefined): boolean {
  return a?.scale === b?.scale && a?.words.join() === b?.words.join();
}

/** One access for each block. */
export function mergeAccesses(accesses: readonly Access[]): Access[] {
  const byBlock = new Map<number, Access>();
  for (const access of accesses) {
    const known = byBlock.get(access.block);
    const { extent: _, ...whole } = access;
    if (known === undefined) byBlock.set(access.block, access);
    else byBlock.set(access.block, { ...whole, writes: known.writes || access.writes });
  }
  return [...byBlock.values()];
}
