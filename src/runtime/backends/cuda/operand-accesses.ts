/** @file Which blocks an instruction reads and writes, by its operands and by the records they point to. */
import { APPLY_SLICE_BYTES } from '../../../memory/table-layout.js';
import { KERNEL } from '../../kernels/kernels.js';
import { APPLIES, READ_OF_RECORDS, RECORD_BYTES_MAX, WRITTEN_OF_RECORDS } from './apply-records.js';
import type { Instruction, ProgramText } from './read-program.js';
import type { RowPacks } from './row-packs.js';
import { hasPieces, piecesOf } from './row-pieces.js';
import type { StepBlocks } from './step-blocks.js';
import { type Access, mergeAccesses, type Side } from './step-plan.js';
import type { TableWorks } from './table-works.js';

const NONE: ReadonlySet<string> = new Set();

/** What operands may be in. */
export interface OperandPlaces {
  readonly text: ProgramText;
  readonly u32: Uint32Array;
  readonly blocks: StepBlocks;
  /** The block of each feed. */
  readonly feeds: readonly number[];
  readonly packs: RowPacks;
  readonly tables: TableWorks;
}

export class OperandAccesses {
  readonly #text: ProgramText;
  readonly #u32: Uint32Array;
  readonly #blocks: StepBlocks;
  readonly #feedBlock: readonly number[];
  readonly #packs: RowPacks;
  readonly #tables: TableWorks;

  constructor({ text, u32, blocks, feeds, packs, tables }: OperandPlaces) {
    this.#text = text;
    this.#u32 = u32;
    this.#blocks = blocks;
    this.#feedBlock = feeds;
    this.#packs = packs;
    this.#tables = tables;
  }

  /** Blocks that an instruction touches, except by its words `without`. */
  of(instruction: Instruction, side: Side, without: ReadonlySet<string> = NONE): Access[] {
    const { kernel, operands } = instruction;
    return mergeAccesses(
      operands.flatMap((register, index): Access[] => {
        const { access, name } = kernel.words[index]!;
        if (access === 'none' || access === 'hostScratch' || without.has(name)) return [];
        if (access === 'records') return this.#ofRecords(instruction, index);
        if (access === 'rows' && side === 'device') {
          const lookup = this.#tables.at(this.#u32[register]!);
          if (lookup !== undefined) return [{ block: this.#tables.lookups[lookup]!.found, writes: false }];
          const pack = this.#packs.of(this.#u32[register]!);
          return pack === undefined ? [] : [{ block: this.#packs.packs[pack]!.block, writes: false }];
        }
        const use = this.#text.feedRegisters.get(register);
        // The host has feeds anyway.
        if (use !== undefined) return side === 'host' ? [] : [{ block: this.#feedBlock[use.feed]!, writes: false }];
        if (access === 'scratch' && side === 'host') return [];
        const place = this.#blocks.place(this.#u32[register]!);
        if (place === null) return [];
        const writes = access === 'write' || access === 'update' || access === 'scratch';
        return [{ block: place.block, writes, ...this.#extent(instruction, name, place.offset) }];
      }),
    );
  }

  #extent({ kernel, operands }: Instruction, operand: string, offset: number): Pick<Access, 'extent'> {
    const known = kernel.extents[operand];
    if (known === undefined) return {};
    if (known === 'within') return { extent: known };
    const [scale, ...times] = known;
    const register = (word: string) => operands[kernel.words.findIndex(({ name }) => name === word)]!;
    return offset > 0 ? {} : { extent: { scale, words: times.map(register) } };
  }

  /** Blocks that records hold addresses of. */
  #ofRecords(instruction: Instruction, index: number): Access[] {
    const { kernel, operands } = instruction;
    const access = (address: number, writes: boolean): Access[] => {
      const place = this.#blocks.place(address);
      return place === null ? [] : [{ block: place.block, writes }];
    };
    if (hasPieces(kernel)) {
      const writes = kernel === KERNEL.gatherSlicesF32;
      return piecesOf(instruction, this.#u32).flatMap(({ matrix }) => access(matrix, writes));
    }
    const records = this.#u32[operands[index]!]!;
    if (!APPLIES.has(kernel)) return this.#hiddenAccesses(records);
    return Array.from({ length: this.#u32[operands[index + 1]!]! }, (_, record) => {
      const at = (records + record * APPLY_SLICE_BYTES) / 4;
      return [
        ...READ_OF_RECORDS.flatMap((word) => access(this.#u32[at + word]!, false)),
        ...WRITTEN_OF_RECORDS.flatMap((word) => access(this.#u32[at + word]!, true)),
      ];
    }).flat();
  }

  /** The block of an address, and all that a small one, which may be a record, could hold addresses of. */
  #hiddenAccesses(address: number, seen = new Set<number>()): Access[] {
    const place = this.#blocks.place(address);
    if (place === null || seen.has(place.block)) return [];
    seen.add(place.block);
    const access = { block: place.block, writes: true };
    const source = this.#blocks.sources[place.block]!;
    if (source.kind !== 'arena' || source.bytes > RECORD_BYTES_MAX) return [access];
    const words = this.#u32.subarray(source.begin / 4, Math.floor((source.begin + source.bytes) / 4));
    return [access, ...Array.from(words).flatMap((word) => this.#hiddenAccesses(word, seen))];
  }
}
