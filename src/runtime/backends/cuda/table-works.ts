/** @file The works of tables on the device: which instructions they are made of, and the blocks they touch. */
import { MonolithError } from '../../../base/errors.js';
import { APPLY_SLICE } from '../../../memory/table-layout.js';
import { KERNEL } from '../../kernels/kernels.js';
import { callOf, type Instruction, type ProgramText } from './read-program.js';
import type { StepBlocks } from './step-blocks.js';
import type { StepWork, TableLookup } from './step-work.js';
import { foundBytes } from './table-use.js';

export class TableWorks {
  readonly lookups: readonly TableLookup[];
  readonly #u32: Uint32Array;
  /** Lookups by control blocks, and by where the host would have the addresses of rows. */
  readonly #ofTable = new Map<number, number>();
  readonly #ofRows = new Map<number, number>();

  /** `blocks` gets those that only the device has. */
  constructor({ instructions, tables }: ProgramText, u32: Uint32Array, blocks: StepBlocks) {
    this.#u32 = u32;
    const finds = instructions.flatMap((instruction) => {
      const find = callOf(instruction, KERNEL.tableFind);
      return find !== null && tables.has(u32[find.table]!) ? [find] : [];
    });
    this.lookups = finds.map((find, index) => {
      const table = u32[find.table]!;
      this.#ofTable.set(table, index);
      this.#ofRows.set(u32[find.rows]!, index);
      const at = blocks.place(u32[find.ids]!)!;
      const capacity = Math.floor((blocks.sources[at.block]!.bytes - at.offset) / 8);
      const found = blocks.add({ kind: 'found', bytes: foundBytes(capacity) });
      const apply = instructions
        .map((later) => callOf(later, KERNEL.tableApply))
        .find((later) => later !== null && u32[later.table] === table);
      const sums = apply == null ? null : this.#gradients(u32[apply.slices]! / 4, instructions, blocks);
      const gradients = apply == null ? null : { ...sums!, timeWord: apply.timeSec };
      return { record: tables.get(table)!, countWord: find.n, capacity, ids: at, found, gradients };
    });
  }

  /** The sums of the slice record at word `slice`: as many as are cleared before gradients are added to them. */
  #gradients(slice: number, instructions: readonly Instruction[], blocks: StepBlocks) {
    const u32 = this.#u32;
    const [sums, stride] = [u32[slice + APPLY_SLICE.gradients]!, u32[slice + APPLY_SLICE.stride]!];
    const clear = instructions
      .map((instruction) => callOf(instruction, KERNEL.zeroRowsF32))
      .find((zero) => zero !== null && u32[zero.dst] === sums);
    return { ...blocks.place(sums)!, stride, countWord: clear!.rows };
  }

  /** The lookup that an instruction finds or applies. */
  of(instruction: Instruction): number | undefined {
    const call = callOf(instruction, KERNEL.tableFind) ?? callOf(instruction, KERNEL.tableApply);
    return call === null ? undefined : this.#ofTable.get(this.#u32[call.table]!);
  }

  /** The lookup whose rows are at `addresses`. */
  at(addresses: number): number | undefined {
    return this.#ofRows.get(addresses);
  }

  work(instruction: Instruction, lookup: number): StepWork {
    const { ids, found, gradients } = this.lookups[lookup]!;
    const applies = instruction.kernel === KERNEL.tableApply;
    const accesses = [
      { block: ids.block, writes: false },
      { block: found, writes: true },
      // Some optimizers use a gradient as scratch.
      ...(applies ? [{ block: gradients!.block, writes: true }] : []),
    ];
    return { kind: applies ? 'apply' : 'find', side: 'device', lookup, instruction, accesses };
  }
}

/** The error of rows that the host is to read while the device has them. */
export function rowsAway({ kernel }: Instruction): MonolithError {
  const reason = `${kernel.name} is to run on the host, and the rows it reads are on the device`;
  const hint = 'do not ask for a CPU for lookups of tables on the device';
  return new MonolithError('ML_GPU_TABLE', { table: 'of a lookup', reason }, { hint });
}
