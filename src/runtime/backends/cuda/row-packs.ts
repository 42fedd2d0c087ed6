/** @file Packs of a step: which rows of tables on the host are copied to the device, and how many floats of each. */
import { PARTITIONS } from '../../../memory/table-layout.js';
import { KERNEL } from '../../kernels/kernels.js';
import { callOf, type Instruction } from './read-program.js';
import { piecesOf } from './row-pieces.js';
import type { StepBlocks } from './step-blocks.js';
import type { Access, Extent, Side } from './step-plan.js';
import type { RowPack } from './step-work.js';

/** Where an instruction finds the addresses of rows; null when it takes no rows. */
export function rowAddresses({ kernel, operands }: Instruction, u32: Uint32Array): number | null {
  return kernel.words[0]!.access === 'rows' ? u32[operands[0]!]! : null;
}

export class RowPacks {
  readonly packs: RowPack[] = [];
  readonly #packOf = new Map<number, number>();
  readonly #instructions: readonly Instruction[];
  readonly #u32: Uint32Array;
  readonly #blocks: StepBlocks;

  constructor(instructions: readonly Instruction[], u32: Uint32Array, blocks: StepBlocks) {
    this.#instructions = instructions;
    this.#u32 = u32;
    this.#blocks = blocks;
  }

  /** The pack of the rows whose addresses are at `addresses`. */
  of(addresses: number): number | undefined {
    return this.#packOf.get(addresses);
  }

  /** The word that says how many rows there are at `addresses`, by who finds them; null when nobody is known to. */
  countWord(addresses: number): number | null {
    const u32 = this.#u32;
    for (const instruction of this.#instructions) {
      const find = callOf(instruction, KERNEL.tableFind);
      if (find !== null && u32[find.rows] === addresses) return find.n;
      const banked = callOf(instruction, KERNEL.bankedFind);
      if (banked !== null && u32[banked.rows] === addresses) return u32[banked.offsets]! / 4 + PARTITIONS;
      const retrieve = callOf(instruction, KERNEL.tableRetrieve);
      if (retrieve !== null && u32[retrieve.out] === u32[addresses / 4]) return retrieve.n;
      const routed = callOf(instruction, KERNEL.rowsOfRoute);
      if (routed !== null && u32[routed.out] === addresses) return routed.n;
    }
    return null;
  }

  /** Floats that are used of rows, by the address of their addresses. */
  widths(sides: readonly Side[]): Map<number, number> {
    const widths = new Map<number, number>();
    this.#instructions.forEach((instruction, index) => {
      const addresses = sides[index] === 'device' ? rowAddresses(instruction, this.#u32) : null;
      if (addresses === null) return;
      const lookup =
        callOf(instruction, KERNEL.poolSumF32) ??
        callOf(instruction, KERNEL.poolMeanF32) ??
        callOf(instruction, KERNEL.firstNF32);
      const width =
        lookup === null
          ? Math.max(0, ...piecesOf(instruction, this.#u32).map(({ offset, floats }) => offset / 4 + floats))
          : this.#u32[lookup.dim]!;
      widths.set(addresses, Math.max(widths.get(addresses) ?? 0, width));
    });
    return widths;
  }

  add(addresses: number, floats: number): number {
    const place = this.#blocks.place(addresses)!;
    const width = Math.ceil(floats / 4) * 4;
    const capacity = this.#blocks.wordsFrom(place);
    const pack = this.packs.length;
    const block = this.#blocks.add({ kind: 'pack', pack, bytes: capacity * width * 4 });
    this.packs.push({ addresses, width, capacity, countWord: this.countWord(addresses)!, block });
    this.#packOf.set(addresses, pack);
    return pack;
  }

  accesses(index: number): Access[] {
    const { addresses, width, block, countWord } = this.packs[index]!;
    const extent: Extent = { scale: width * 4, words: [countWord] };
    return [
      { block: this.#blocks.place(addresses)!.block, writes: false },
      { block, writes: true, extent },
    ];
  }
}
