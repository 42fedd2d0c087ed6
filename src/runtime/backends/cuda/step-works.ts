/**
 * @file Turns the instructions of a program into works of the host and of a device, with the blocks they touch.
 *
 * A kernel runs on the device when there is one for it there and all its operands can be there; otherwise on the host.
 * Rows of tables stay on the host: those of the unique ids of a batch are gathered, copied over, and found by
 * addresses. Their gradients are sorted by id on the host and added up by segments on the device, if it can; else by
 * atomics. Those of tables on the device are found there; see table-works.ts.
 */

import type { Views } from '../../../memory/views.js';
import { KERNEL, type Kernel } from '../../kernels/kernels.js';
import type { Access as OperandAccess } from '../../kernels/operand.js';
import { WORDS_PER_ENTRY } from './gradient-sort.js';
import { hoistLaunches } from './hoist-launches.js';
import { OperandAccesses } from './operand-accesses.js';
import { callOf, type Instruction, type ProgramText } from './read-program.js';
import { RowPacks, rowAddresses } from './row-packs.js';
import { hasPieces, pieceList, piecesOf } from './row-pieces.js';
import { entriesExtent, type SegmentSum, type SumPiece, segmentSumOf } from './segment-sums.js';
import { StepBlocks } from './step-blocks.js';
import { type Access, type Extent, mergeAccesses, type Side } from './step-plan.js';
import type { LaunchArgument, SortPlan, StepWork, StepWorks } from './step-work.js';
import { rowsAway, TableWorks } from './table-works.js';

/** Counters are for the host, which asks for them at every step, and so are counts of ids, for filters. */
const HOST_ONLY: ReadonlySet<Kernel> = new Set([KERNEL.addCountI64, KERNEL.countInverseU32, KERNEL.countColumnsU32]);

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
  readonly #sorts: SortPlan[] = [];
  readonly #feedBlock: number[];
  readonly #tables: TableWorks;
  readonly #packs: RowPacks;
  readonly #accesses: OperandAccesses;
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
    this.#packs = new RowPacks(text.instructions, this.#u32, this.#blocks);
    this.#accesses = new OperandAccesses({
      text,
      u32: this.#u32,
      blocks: this.#blocks,
      feeds: this.#feedBlock,
      packs: this.#packs,
      tables: this.#tables,
    });
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
    const widths = this.#packs.widths(sides);
    instructions.forEach((instruction, index) => {
      const lookup = this.#tables.of(instruction);
      if (lookup !== undefined) {
        works.push(this.#tables.work(instruction, lookup));
        return;
      }
      if (sides[index] === 'host') {
        const away = rowAddresses(instruction, this.#u32);
        if (away !== null && this.#tables.at(away) !== undefined) throw rowsAway(instruction);
        works.push({ kind: 'host', side: 'host', instruction, accesses: this.#accesses.of(instruction, 'host') });
        return;
      }
      const addresses = rowAddresses(instruction, this.#u32);
      if (addresses !== null && this.#packs.of(addresses) === undefined && this.#tables.at(addresses) === undefined) {
        const pack = this.#packs.add(addresses, widths.get(addresses)!);
        works.push({ kind: 'pack', side: 'host', pack, accesses: this.#packs.accesses(pack) });
      }
      const sum = this.#segmentSum(instruction);
      if (sum !== null) works.push(...this.#sortedSum(instruction, sum));
      else {
        const args = this.#arguments(instruction);
        const accesses = this.#accesses.of(instruction, 'device');
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
    return { works: ordered, blocks: this.#blocks.sources, packs: this.#packs.packs, sorts: this.#sorts, lookups };
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
    if (access === 'rows')
      return this.#options.packsRows !== false && this.#packs.countWord(this.#u32[register]!) !== null;
    if (access === 'records') return hasPieces(instruction.kernel);
    if (this.#text.feedRegisters.has(register)) return access === 'read';
    return this.#u32[register] === 0 || this.#blocks.place(this.#u32[register]!) !== null;
  }

  #touches(instruction: Instruction, address: number): boolean {
    const place = this.#blocks.place(address);
    return this.#accesses.of(instruction, 'host').some(({ block }) => block === place?.block);
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

  // --- sums of gradients ---------------------------------------------------------------------------------------------

  /** The sum by sorted segments that an instruction becomes; null when it is none, or can only be one by atomics. */
  #segmentSum(instruction: Instruction): SegmentSum | null {
    const sum = segmentSumOf(instruction, this.#u32, () =>
      piecesOf(instruction, this.#u32).map(({ offset, ...piece }): SumPiece => ({ ...piece, offset: offset / 4 })),
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
    const accesses = this.#accesses.of(instruction, 'device', sum.sortOnly);
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
          ? { kind: 'rows', pack: this.#packs.of(this.#u32[register]!)! }
          : { kind: 'found', lookup };
      }
      if (access === 'records')
        return { kind: 'pieces', list: pieceList(piecesOf(instruction, this.#u32), this.#blocks) };
      const use = this.#text.feedRegisters.get(register);
      if (use !== undefined) return { kind: 'block', block: this.#feedBlock[use.feed]!, offset: use.offset };
      const place = this.#blocks.place(this.#u32[register]!);
      return place === null ? { kind: 'none' } : { kind: 'block', ...place };
    });
  }
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
