/**
 * @file Turns the instructions of a program into works of the host and of a device, with the blocks they touch.
 *
 * A kernel runs on the device when there is one for it there and all its operands can be there; otherwise on the host.
 * Rows of tables stay on the host: those of the unique ids of a batch are gathered, copied over, and found by addresses. Their
 * gradients are sorted by id on the host and added up by segments on the device, if it can; else by atomics.
 * Those of tables on the device are found there; see table-works.ts.
 */

import { DEVICE_PIECE, DEVICE_PIECE_WORDS } from '../../../memory/device-record-layout.js';
import { PIECE, PIECE_WORDS, wordsOf } from '../../../memory/record-layout.js';
import { APPLY_SLICE_BYTES, PARTITIONS } from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';
import { KERNEL, type Kernel } from '../../kernels/kernels.js';
import type { Access as OperandAccess } from '../../kernels/operand.js';
import { APPLIES, READ_OF_RECORDS, RECORD_BYTES_MAX, WRITTEN_OF_RECORDS } from './apply-records.js';
import { WORDS_PER_ENTRY } from './gradient-sort.js';
import { hoistLaunches } from './hoist-launches.js';
import { callOf, type Instruction, type ProgramText } from './read-program.js';
import { entriesExtent, type SegmentSum, type SumPiece, segmentSumOf } from './segment-sums.js';
import { StepBlocks } from './step-blocks.js';
import { type Access, type Extent, mergeAccesses, type Side } from './step-plan.js';
import type { LaunchArgument, PieceList, RowPack, SortPlan, StepWork, StepWorks } from './step-work.js';
import { rowsAway, TableWorks } from './table-works.js';

/** Counters are for the host, which asks for them at every step, and so are counts of ids, for filters. */
const HOST_ONLY: ReadonlySet<Kernel> = new Set([KERNEL.addCountI64, KERNEL.countInverseU32, KERNEL.countColumnsU32]);

const NONE: ReadonlySet<string> = new Set();

type Piece = Readonly<Record<keyof typeof PIECE, number>>;

export interface WorksOptions {
  /** Whether the device has this kernel. */
  readonly has: (kernel: string) => boolean;
  /** False: lookups pool on the host, and no rows are packed. */
  readonly packsRows?: boolean;
}

export function stepWorks(text: ProgramText, views: Views, options: WorksOptions): StepWorks {
  return new WorkList(text, views, options).build();
}

class WorkList {
  readonly #text: ProgramText;
  readonly #u32: Uint32Array;
  readonly #options: WorksOptions;
  readonly #blocks: StepBlocks;
  readonly #packs: RowPack[] = [];
  readonly #sorts: SortPlan[] = [];
  readonly #packOf = new Map<number, number>();
  readonly #feedBlock: number[];
  readonly #tables: TableWorks;
  readonly instructions: readonly Instruction[];

  constructor(text: ProgramText, views: Views, options: WorksOptions) {
    this.#text = text;
    this.#u32 = views.u32;
    this.#options = options;
    this.instructions = text.instructions;
    this.#blocks = new StepBlocks(text.blocks);
    this.#feedBlock = text.feeds.map(({ bytesMax }, feed) => {
      return this.#blocks.add({ kind: 'feed', feed, bytes: bytesMax });
    });
    this.#tables = new TableWorks(text, this.#u32, this.#blocks);
  }

  build(): StepWorks {
    const { instructions } = this;
    const { read } = this.#text;
    const sides = instructions.map((instruction) => this.#side(instruction));
    // Zeros are made where they are added to.
    instructions.forEach((instruction, index) => {
      const zero = callOf(instruction, KERNEL.zeroRowsF32);
      if (zero === null) return;
      const address = this.#u32[zero.dst]!;
      const next = instructions.findIndex((later, at) => at > index && this.#touches(later, address));
      if (next >= 0 && sides[next] === 'host') sides[index] = 'host';
    });
    const works: StepWork[] = [{ kind: 'feeds', side: 'host', accesses: this.#feedAccesses() }];
    const widths = this.#packWidths(sides);
    instructions.forEach((instruction, index) => {
      const lookup = this.#tables.of(instruction);
      if (lookup !== undefined) {
        works.push(this.#tables.work(instruction, lookup));
        return;
      }
      if (sides[index] === 'host') {
        const away = this.#rowAddresses(instruction);
        if (away !== null && this.#tables.at(away) !== undefined) throw rowsAway(instruction);
        works.push({ kind: 'host', side: 'host', instruction, accesses: this.#accesses(instruction, 'host') });
        return;
      }
      const addresses = this.#rowAddresses(instruction);
      if (addresses !== null && !this.#packOf.has(addresses) && this.#tables.at(addresses) === undefined) {
        const pack = this.#addPack(addresses, widths.get(addresses)!);
        works.push({ kind: 'pack', side: 'host', pack, accesses: this.#packAccesses(pack) });
      }
      const sum = this.#segmentSum(instruction);
      if (sum !== null) works.push(...this.#sortedSum(instruction, sum));
      else {
        const args = this.#arguments(instruction);
        const accesses = this.#accesses(instruction, 'device');
        works.push({ kind: 'launch', side: 'device', kernel: instruction.kernel.name, instruction, args, accesses });
      }
    });
    const ends = read.flatMap((address) => this.#blocks.place(address) ?? []);
    works.push({
      kind: 'end',
      side: 'host',
      accesses: mergeAccesses(ends.map(({ block }) => ({ block, writes: false }))),
    });
    const ordered = hoistLaunches(works, staysBehind);
    const { lookups } = this.#tables;
    return { works: ordered, blocks: this.#blocks.sources, packs: this.#packs, sorts: this.#sorts, lookups };
  }

  #side(instruction: Instruction): Side {
    const { kernel, operands, result, checked, onHost } = instruction;
    if (this.#tables.of(instruction) !== undefined) return 'device';
    if (result !== 0 || checked || onHost) return 'host';
    if (HOST_ONLY.has(kernel) || !this.#options.has(kernel.name)) return 'host';
    const fits = kernel.words.every(({ access }, index) => this.#fits(access, operands[index]!, instruction));
    return fits ? 'device' : 'host';
  }

  #fits(access: OperandAccess, register: number, instruction: Instruction): boolean {
    if (access === 'none' || access === 'hostScratch') return true;
    if (access === 'rows' && this.#tables.at(this.#u32[register]!) !== undefined) return true;
    if (access === 'rows') return this.#options.packsRows !== false && this.#countWord(this.#u32[register]!) !== null;
    if (access === 'records') return hasPieces(instruction.kernel);
    if (this.#text.feedRegisters.has(register)) return access === 'read';
    return this.#u32[register] === 0 || this.#blocks.place(this.#u32[register]!) !== null;
  }

  #touches(instruction: Instruction, address: number): boolean {
    const place = this.#blocks.place(address);
    return this.#accesses(instruction, 'host').some(({ block }) => block === place?.block);
  }

  // --- blocks --------------------------------------------------------------------------------------------------------

  #feedAccesses(): Access[] {
    const { feeds, rowsRegister } = this.#text;
    return feeds.map(({ rowBytes, extraRows, countRegister }, feed): Access => {
      const words = countRegister === 0 ? [rowsRegister] : [countRegister];
      // A row more than there are is copied with splits: the last of a full batch is at the end of the block.
      const extent: Extent = { scale: countRegister === 0 ? rowBytes : 8, words };
      return { block: this.#feedBlock[feed]!, writes: true, ...(extraRows === 0 && { extent }) };
    });
  }

  // --- rows of tables ------------------------------------------------------------------------------------------------

  #rowAddresses({ kernel, operands }: Instruction): number | null {
    return kernel.words[0]!.access === 'rows' ? this.#u32[operands[0]!]! : null;
  }

  /** The word that says how many rows there are at `addresses`, by who finds them; null when nobody is known to. */
  #countWord(addresses: number): number | null {
    const u32 = this.#u32;
    for (const instruction of this.instructions) {
      const find = callOf(instruction, KERNEL.tableFind);
      if (find !== null && u32[find.rows] === addresses) return find.n;
      const banked = callOf(instruction, KERNEL.bankedFind);
      if (banked !== null && u32[banked.rows] === addresses) return u32[banked.offsets]! / 4 + PARTITIONS;
      const retrieve = callOf(instruction, KERNEL.tableRetrieve);
      if (retrieve !== null && u32[retrieve.out] === u32[addresses / 4]) return retrieve.n;
    }
    return null;
  }

  /** Floats that are used of rows, by the address of their addresses. */
  #packWidths(sides: readonly Side[]): Map<number, number> {
    const widths = new Map<number, number>();
    this.instructions.forEach((instruction, index) => {
      const addresses = sides[index] === 'device' ? this.#rowAddresses(instruction) : null;
      if (addresses === null) return;
      const lookup =
        callOf(instruction, KERNEL.poolSumF32) ??
        callOf(instruction, KERNEL.poolMeanF32) ??
        callOf(instruction, KERNEL.firstNF32);
      const width =
        lookup === null
          ? Math.max(0, ...this.#pieces(instruction).map(({ offset, floats }) => offset / 4 + floats))
          : this.#u32[lookup.dim]!;
      widths.set(addresses, Math.max(widths.get(addresses) ?? 0, width));
    });
    return widths;
  }

  #addPack(addresses: number, floats: number): number {
    const place = this.#blocks.place(addresses)!;
    const width = Math.ceil(floats / 4) * 4;
    const capacity = this.#blocks.wordsFrom(place);
    const pack = this.#packs.length;
    const block = this.#blocks.add({ kind: 'pack', pack, bytes: capacity * width * 4 });
    this.#packs.push({ addresses, width, capacity, countWord: this.#countWord(addresses)!, block });
    this.#packOf.set(addresses, pack);
    return pack;
  }

  #packAccesses(index: number): Access[] {
    const { addresses, width, block, countWord } = this.#packs[index]!;
    const extent: Extent = { scale: width * 4, words: [countWord] };
    return [
      { block: this.#blocks.place(addresses)!.block, writes: false },
      { block, writes: true, extent },
    ];
  }

  /** The pieces of gatherSlicesF32 and scatterSlicesF32. */
  #pieces(instruction: Instruction): Piece[] {
    const { pieces, pieceCount } = piecesOf(instruction);
    const first = this.#u32[pieces]! / 4;
    return Array.from({ length: this.#u32[pieceCount]! }, (_, index) => {
      const words = this.#u32.subarray(first + index * PIECE_WORDS);
      return Object.fromEntries(Object.entries(PIECE).map(([name, word]) => [name, words[word]!])) as Piece;
    });
  }

  // --- sums of gradients ---------------------------------------------------------------------------------------------

  /** The sum by sorted segments that an instruction becomes; null when it is none, or can only be one by atomics. */
  #segmentSum(instruction: Instruction): SegmentSum | null {
    const sum = segmentSumOf(instruction, this.#u32, () =>
      this.#pieces(instruction).map(({ offset, ...piece }): SumPiece => ({ ...piece, offset: offset / 4 })),
    );
    if (sum === null || !this.#options.has(sum.kernel)) return null;
    const places = [sum.source.inverse, sum.sums].map((register) => this.#blocks.place(this.#u32[register]!));
    return places.includes(null) ? null : sum;
  }

  #sortedSum(instruction: Instruction, sum: SegmentSum): StepWork[] {
    const { words } = instruction.kernel;
    const { source } = sum;
    const sort = this.#sorts.length;
    const inverse = this.#blocks.place(this.#u32[source.inverse]!)!;
    const entries = Math.ceil(this.#blocks.wordsFrom(inverse) * sum.entriesPerId);
    const block = this.#blocks.add({ kind: 'sorted', sort, bytes: entries * WORDS_PER_ENTRY * 4 });
    const sums = this.#blocks.place(this.#u32[sum.sums]!)!;
    const uniqueMax = Math.ceil(this.#blocks.wordsFrom(sums) / this.#u32[sum.sumsStride]!);
    this.#sorts.push({ source, uniqueMax, block });
    const args = this.#arguments(instruction);
    const launchArgs = sum.operands.map((operand): LaunchArgument => {
      if (operand === 'none') return { kind: 'none' };
      if (operand === 'sorted') return { kind: 'block', block, offset: 0 };
      if (operand === 'segments') return { kind: 'segments', sort };
      if ('constant' in operand) return { kind: 'constant', value: operand.constant };
      return args[words.findIndex(({ name }) => name === operand.word)]!;
    });
    const accesses = this.#accesses(instruction, 'device', sum.sortOnly);
    const extent = entriesExtent(source, this.#text);
    const read = { block: inverse.block, writes: false };
    return [
      { kind: 'sort', side: 'host', sort, accesses: [read, { block, writes: true, ...(extent && { extent }) }] },
      {
        kind: 'launch',
        side: 'device',
        kernel: sum.kernel,
        instruction,
        args: launchArgs,
        accesses: [...accesses, { block, writes: false }],
      },
    ];
  }

  // --- operands ------------------------------------------------------------------------------------------------------

  #arguments(instruction: Instruction): LaunchArgument[] {
    const { kernel, operands } = instruction;
    return operands.map((register, index): LaunchArgument => {
      const { access, kind } = kernel.words[index]!;
      if (access === 'none') {
        const float = kind === 'float';
        // A rate may be changed between steps by whoever holds its register.
        return { kind: 'number', register, float, changing: float || this.#text.changing.has(register) };
      }
      if (access === 'hostScratch') return { kind: 'none' };
      if (access === 'rows') {
        const lookup = this.#tables.at(this.#u32[register]!);
        return lookup === undefined
          ? { kind: 'rows', pack: this.#packOf.get(this.#u32[register]!)! }
          : { kind: 'found', lookup };
      }
      if (access === 'records') return { kind: 'pieces', list: this.#pieceList(instruction) };
      const use = this.#text.feedRegisters.get(register);
      if (use !== undefined) return { kind: 'block', block: this.#feedBlock[use.feed]!, offset: use.offset };
      const place = this.#blocks.place(this.#u32[register]!);
      return place === null ? { kind: 'none' } : { kind: 'block', ...place };
    });
  }

  /** Pieces as the device has them; their matrices are put in where they are known. */
  #pieceList(instruction: Instruction): PieceList {
    const pieces = this.#pieces(instruction);
    return {
      words: Uint32Array.from(
        pieces.flatMap(({ first, ids, offset, floats, stride, add }) =>
          wordsOf(DEVICE_PIECE, DEVICE_PIECE_WORDS, { first, ids, offset, floats, matrix: 0, stride, add }),
        ),
      ),
      places: pieces.map(({ matrix }) => this.#blocks.place(matrix)!),
    };
  }

  /** Blocks that an instruction touches, except by its words `without`. */
  #accesses(instruction: Instruction, side: Side, without: ReadonlySet<string> = NONE): Access[] {
    const { kernel, operands } = instruction;
    return mergeAccesses(
      operands.flatMap((register, index): Access[] => {
        const { access, name } = kernel.words[index]!;
        if (access === 'none' || access === 'hostScratch' || without.has(name)) return [];
        if (access === 'records') return this.#recordAccesses(instruction, index);
        if (access === 'rows' && side === 'device') {
          const lookup = this.#tables.at(this.#u32[register]!);
          if (lookup !== undefined) return [{ block: this.#tables.lookups[lookup]!.found, writes: false }];
          const pack = this.#packOf.get(this.#u32[register]!);
          return pack === undefined ? [] : [{ block: this.#packs[pack]!.block, writes: false }];
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
  #recordAccesses(instruction: Instruction, index: number): Access[] {
    const { kernel, operands } = instruction;
    const access = (address: number, writes: boolean): Access[] => {
      const place = this.#blocks.place(address);
      return place === null ? [] : [{ block: place.block, writes }];
    };
    if (hasPieces(kernel)) {
      const writes = kernel === KERNEL.gatherSlicesF32;
      return this.#pieces(instruction).flatMap(({ matrix }) => access(matrix, writes));
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

const hasPieces = (kernel: Kernel) => kernel === KERNEL.gatherSlicesF32 || kernel === KERNEL.scatterSlicesF32;

/** The registers of the pieces of a call that has them. */
function piecesOf(instruction: Instruction) {
  return callOf(instruction, KERNEL.gatherSlicesF32) ?? callOf(instruction, KERNEL.scatterSlicesF32)!;
}

/** A launch takes counts that works of the host find out, and rows that they gather. */
function staysBehind(first: StepWork, then: StepWork): boolean {
  if (first.kind === 'feeds' || then.kind !== 'launch') return true;
  return (
    first.kind === 'host' &&
    first.instruction.result !== 0 &&
    then.instruction.operands.includes(first.instruction.result)
  );
}
