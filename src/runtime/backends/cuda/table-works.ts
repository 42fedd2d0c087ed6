/** @file The works of tables on the device: which instructions they are made of, and the blocks they touch. */
import { MonolithError } from '../../../base/errors.js';
import { APPLY_SLICE } from '../../../memory/table-layout.js';
import { KERNEL } from '../../kernels/kernels.js';
import type { Instruction, ProgramText } from './read-program.js';
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
    const finds = instructions.filter(({ kernel, operands }) => {
      return kernel === KERNEL.tableFind && tables.has(u32[operands[0]!]!);
    });
    this.lookups = finds.map(({ operands }, index) => {
      const [table, ids, , rows] = operands.map((register) => u32[register]!) as [number, number, number, number];
      this.#ofTable.set(table, index);
      this.#ofRows.set(rows, index);
      const at = blocks.place(ids)!;
      const capacity = Math.floor((blocks.sources[at.block]!.bytes - at.offset) / 8);
      const found = blocks.add({ kind: 'found', bytes: foundBytes(capacity) });
      const apply = instructions.find((later) => {
        return later.kernel === KERNEL.tableApply && u32[later.operands[0]!] === table;
      });
      const gradients =
        apply === undefined ? null : this.#gradients(u32[apply.operands[3]!]! / 4, instructions, blocks);
      return { record: tables.get(table)!, countWord: operands[2]!, capacity, ids: at, found, gradients };
    });
  }

  /** The sums of the slice record at word `slice`: as many as are cleared before gradients are added to them. */
  #gradients(slice: number, instructions: readonly Instruction[], blocks: StepBlocks): TableLookup['gradients'] {
    const u32 = this.#u32;
    const [sums, stride] = [u32[slice + APPLY_SLICE.gradients]!, u32[slice + APPLY_SLICE.stride]!];
    const clear = instructions.find(({ kernel, operands }) => {
      return kernel === KERNEL.zeroRowsF32 && u32[operands[0]!] === sums;
    });
    return { ...blocks.place(sums)!, stride, countWord: clear!.operands[2]! };
  }

  /** The lookup that an instruction finds or applies. */
  of({ kernel, operands }: Instruction): number | undefined {
    if (kernel !== KERNEL.tableFind && kernel !== KERNEL.tableApply) return undefined;
    return this.#ofTable.get(this.#u32[operands[0]!]!);
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
