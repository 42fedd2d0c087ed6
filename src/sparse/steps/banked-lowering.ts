/**
 * @file Programs over tables in other memories than the session's: rows are copied here to be read, gradients there to
 * be applied. src/memory/bank-layout.ts draws what a program keeps for that, runtime/backends/bank-calls.ts follows it.
 */
import { BANKED, bankedWords, bayParts, gatherBytes, localParts } from '../../memory/bank-layout.js';
import type { Register } from '../../runtime/compile/code.js';
import type { LoweringContext } from '../../runtime/compile/lowering.js';
import { KERNEL } from '../../runtime/kernels/kernels.js';
import type { HashTable } from '../table/hash-table.js';
import { scratchBlock } from '../table/table-scratch.js';

/** Unique ids of a slice, by the partition that owns them. */
export interface OwnedIds {
  readonly ids: Register;
  readonly order: Register;
  readonly offsets: Register;
  /** Where the addresses of the rows go. */
  readonly rows: Register;
}

export class BankedTable {
  readonly #context: LoweringContext;
  readonly #record: number;
  readonly #sliceIds: number;
  /** Floats of a copied row: so many that it is 16-byte aligned. */
  readonly rowFloats: number;

  constructor(context: LoweringContext, table: HashTable, sliceIds: number, gate: number) {
    const { plan, environment } = context;
    this.#context = context;
    this.#sliceIds = sliceIds;
    this.rowFloats = Math.ceil(table.dim / 4) * 4;
    const { banks } = table;
    const parts = bayParts(sliceIds, plan.slices, this.rowFloats);
    const bays = Array.from({ length: plan.threads }, () =>
      banks.map((bank) => {
        const bay = scratchBlock(bank, parts.bytes, `${table.name}/bay`);
        for (let i = 0; i < sliceIds * plan.slices; i++) bank.views.u32[(bay + parts.order) / 4 + i] = i;
        return bay;
      }),
    );
    this.#record = context.alloc(bankedWords(banks.length, plan.threads) * 4, 'banked table');
    const { u32 } = environment.views;
    u32[this.#record / 4 + BANKED.banks] = banks.length;
    u32[this.#record / 4 + BANKED.rowFloats] = this.rowFloats;
    u32[this.#record / 4 + BANKED.sliceIds] = sliceIds;
    u32[this.#record / 4 + BANKED.slices] = plan.slices;
    u32[this.#record / 4 + BANKED.gate] = gate;
    u32.set([...table.addresses, ...bays.flat()], this.#record / 4 + BANKED.addresses);
  }

  /** Whether the rows of a table are where the program runs. */
  static needed(context: LoweringContext, { banks }: HashTable): boolean {
    return banks.length > 1 || banks[0]!.views.buffer !== context.environment.views.buffer;
  }

  /**
   * Copies of the rows of a slice; `rows` then points to them. Gives the register of words that are not 0 where an id
   * has a row, which are there in programs that ask a filter.
   */
  find({ ids, order, offsets, rows }: OwnedIds): Register {
    const context = this.#context;
    const record = context.slice.constant(this.#record);
    const parts = localParts(this.#sliceIds, this.rowFloats);
    const local = context.perLease(parts.bytes, 'copied rows');
    context.emit(KERNEL.bankedFind, { record, ids, order, offsets, rows, local: local.pointer });
    return context.slice.each((slice, lease) => local.at(slice, lease) + parts.present);
  }

  /** tableApply of the records of slices, whose gradients are `rowFloats` apart, by the owners of partitions. */
  apply(first: Register, end: Register, slices: Register, timeSec: Register): void {
    const { thread, plan } = this.#context;
    const bytes = Math.ceil(gatherBytes(this.#sliceIds, this.rowFloats) / 64) * 64;
    const gathered = this.#context.alloc(bytes * plan.threads, 'gathered updates');
    this.#context.emitThread(
      KERNEL.bankedApply,
      {
        record: thread.constant(this.#record),
        first,
        end,
        slices,
        sliceCount: thread.constant(plan.slices),
        gathered: thread.each((index) => gathered + index * bytes),
        timeSec,
      },
      { checked: true },
    );
  }
}
