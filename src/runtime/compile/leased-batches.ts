/**
 * @file What the parts before a cut step have made of the batches in flight, and how another program goes on with it.
 *
 * Programs that train alike and differ in what they fetch read the same ids and rows. When one takes over from another,
 * it takes what was read ahead too: what is fetched does not change what is learnt.
 */
import type { Op } from '../../graph/graph.js';
import type { Views } from '../../memory/views.js';
import type { Register } from './code.js';
import type { LeaseBlock, ProgramCode } from './program-code.js';
import type { RegisterFiles } from './write-contexts.js';

/** Registers that instructions before the step have written, in a file for each slice or thread of each lease. */
interface HandedOn {
  readonly registers: ReadonlySet<Register>;
  readonly files: RegisterFiles;
  /** Files of a lease. */
  readonly count: number;
}

export interface LeasedBatches {
  /** Programs with the same key make the same of a batch. */
  readonly key: string;
  /** Without those that never change: they are of their own lease. */
  readonly blocks: readonly LeaseBlock[];
  /** Addresses of the registers of a lease. */
  registers(lease: number): readonly number[];
}

/** `rowOps` are those that read rows of tables or step them. */
export function leasedBatches(code: ProgramCode, rowOps: readonly Op[], handedOn: readonly HandedOn[]): LeasedBatches {
  const { leaseBlocks: blocks } = code;
  const registers = (lease: number) =>
    handedOn.flatMap(({ registers, files: { begin, stride }, count }) => {
      const files = Array.from({ length: count }, (_, file) => begin + (lease * count + file) * stride);
      return files.flatMap((file) => [...registers].map((register) => file + register * 4));
    });
  const key = JSON.stringify([
    rowOps.map(({ name }) => name),
    blocks.map(({ what, parts }) => [what, parts]),
    handedOn.map((each) => each.registers.size),
  ]);
  return { key, blocks, registers };
}

/**
 * Copies what one program has made of a batch to another of the same key, between steps. Addresses of rows among it may
 * be of blocks of the first, whose lease is to be kept as long.
 */
export function copyLeased(
  { u8, u32 }: Views,
  from: LeasedBatches,
  to: LeasedBatches,
  leases: readonly [number, number],
) {
  const [taken, free] = leases;
  for (const [index, block] of from.blocks.entries()) {
    const target = to.blocks[index]!;
    const { parts } = block;
    // One of them may have more room; what the batch has fits both, and is at the beginning.
    const [here, there] = [block.bytes / parts, target.bytes / parts];
    for (let part = 0; part < parts; part++) {
      const at = block.at(taken) + part * here;
      u8.copyWithin(target.at(free) + part * there, at, at + Math.min(here, there));
    }
  }
  const targets = to.registers(free);
  for (const [index, address] of from.registers(taken).entries()) u32[targets[index]! / 4] = u32[address / 4]!;
}
