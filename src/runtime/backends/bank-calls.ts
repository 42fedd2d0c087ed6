/**
 * @file What a program asks of its thread for tables in other memories: find rows there and copy them here, take
 * gradients there and step the rows.
 *
 * The kernels that a bank runs are its own; between memories there is only copying, one run of ids, rows or gradients
 * per table, slice and bank. src/memory/bank-layout.ts draws what is shared.
 */
import {
  BANKED,
  type BayParts,
  bayParts,
  GATE,
  gateParts,
  lines,
  localParts,
  OFFSETS_BYTES,
} from '../../memory/bank-layout.js';
import { APPLY_SLICE, APPLY_SLICE_BYTES, PARTITIONS, UPDATE_RESULT } from '../../memory/table-layout.js';
import { TOUCHED_SCRATCH_BYTES } from '../../memory/touched-layout.js';
import type { Views } from '../../memory/views.js';
import type { HostCall } from '../kernels/host-call.js';
import { KERNEL } from '../kernels/kernels.js';

type Answering<Names extends string> = Readonly<Record<Names, (...operands: number[]) => number>>;
type Silent<Names extends string> = Readonly<Record<Names, (...operands: number[]) => void>>;

/** A memory as these calls see it: kernels of whatever backend over its views. */
export interface CallableBank {
  readonly views: Views;
  readonly kernels: Answering<'tableFind' | 'tableRetrieve' | 'tableApply' | 'tableStepped'> & Silent<'tablePassOver'>;
}

export interface CallerMemory {
  readonly views: Views;
  readonly kernels: Answering<'bankIds' | 'bankUpdates' | 'insertTouchedPairs'> & Silent<'bankRows' | 'bankCounts'>;
}

/** The gate of a table as one thread passes it; addresses in the session's memory, 0 for what there is not. */
interface Gate {
  readonly filter: number;
  readonly touched: number;
  readonly tableIndex: number;
  readonly scratch: number;
  readonly ids: number;
  readonly counts: number;
}

/** One table, one thread: the bay it has in each bank. */
interface Bay {
  readonly gate: Gate | null;
  readonly bank: CallableBank;
  readonly table: number;
  readonly base: number;
  readonly parts: BayParts;
  readonly sliceIds: number;
}

export class BankCalls {
  readonly #banks: readonly CallableBank[];
  readonly #here: () => CallerMemory;
  readonly #thread: number;
  readonly #bays = new Map<number, readonly Bay[]>();

  /** `here` is asked for late: the kernels of the session's memory are made with these calls among their imports. */
  constructor(banks: readonly CallableBank[], here: () => CallerMemory, thread: number) {
    this.#banks = banks;
    this.#here = here;
    this.#thread = thread;
  }

  readonly call: HostCall = (opcode, ...operands) => {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0] = operands.map((operand) => operand >>> 0);
    return opcode === KERNEL.bankedFind.opcode ? this.find(a, b, c, d, e, f) : this.apply(a, b, c, d, e, f, g);
  };

  /**
   * bankedFind: rows[i] = address of a copy of the row of ids[i] in `local`, which also has room for the ids in front.
   */
  find(record: number, ids: number, order: number, offsets: number, rows: number, local: number): number {
    const { views, kernels } = this.#here();
    const bays = this.#baysOf(record);
    const rowFloats = views.u32[record / 4 + BANKED.rowFloats]!;
    const own = localParts(views.u32[record / 4 + BANKED.sliceIds]!, rowFloats);
    let at = local + own.rows;
    let found = 0;
    bays.forEach(({ bank, table, base, parts, gate }, index) => {
      const n = kernels.bankIds(ids, order, offsets, index, bays.length, local);
      if (n === 0) return;
      copy(views, local, bank.views, base + parts.ids, n * 8);
      const out = base + parts.floats;
      found += bank.kernels.tableRetrieve(table, base + parts.ids, n, out, rowFloats, base + parts.scratch);
      copy(bank.views, out, views, at, n * rowFloats * 4);
      kernels.bankRows(order, offsets, index, bays.length, rows, at, rowFloats * 4);
      at += n * rowFloats * 4;
      if (gate === null || gate.filter === 0) return;
      const slots = base + parts.slots;
      bank.kernels.tableFind(table, base + parts.ids, n, base + parts.rows, slots);
      const present = bank.views.u32.subarray(slots / 4, slots / 4 + n);
      markPresent(views.u32, present, { order, offsets, bank: index, banks: bays.length }, local + own.present);
    });
    return found;
  }

  /**
   * bankedApply: tableApply of the partitions [first, end). `gathered` has room for the offsets, ids and gradients of a
   * slice, in this order. The first bank that cannot ends the call with its result.
   */
  apply(
    record: number,
    first: number,
    end: number,
    slices: number,
    sliceCount: number,
    gathered: number,
    updateSec: number,
  ): number {
    const bays = this.#baysOf(record);
    let stepped = 0;
    for (const [index, bay] of bays.entries()) {
      const owners = { first, end, bank: index, banks: bays.length };
      const copied = this.#copySlices(bay, owners, slices, sliceCount, gathered);
      if (copied === 0) continue;
      this.#admit(bay, copied);
      const { bank, table, base, parts } = bay;
      const [records, merged] = [base + parts.records, base + parts.merged];
      const result = bank.kernels.tableApply(table, first, end, records, sliceCount, merged, updateSec);
      if (result < 0) return result;
      stepped += result;
      if (!this.#touch(bay, copied)) return UPDATE_RESULT.lostLock;
    }
    return stepped;
  }

  /** Ids that filterAsk keeps out, which is known here, go to the sinks, which are there. */
  #admit({ bank, table, base, parts, gate }: Bay, copied: number): void {
    if (gate === null || gate.filter === 0) return;
    copy(this.#here().views, gate.counts, bank.views, base + parts.merged, copied * 4);
    const [rowsAt, slotsAt] = [base + parts.rows, base + parts.slots];
    bank.kernels.tablePassOver(table, base + parts.ids, copied, base + parts.merged, rowsAt, slotsAt);
  }

  /** Records the ids that got a step; false when a lock is lost. */
  #touch({ bank, table, base, parts, gate }: Bay, copied: number): boolean {
    if (gate === null || gate.touched === 0) return true;
    const { views, kernels } = this.#here();
    // The gradients are spent: their place is free.
    const out = base + parts.floats;
    const n = bank.kernels.tableStepped(table, base + parts.ids, copied, base + parts.slots, out);
    copy(bank.views, out, views, gate.ids, n * 8);
    return kernels.insertTouchedPairs(gate.touched, gate.ids, n, gate.tableIndex, gate.scratch) >= 0;
  }

  /** Copies what all slices have for one bank into its bay, finds the rows, and returns how many ids there are. */
  #copySlices(
    { bank, table, base, parts, sliceIds, gate }: Bay,
    owners: { first: number; end: number; bank: number; banks: number },
    slices: number,
    sliceCount: number,
    gathered: number,
  ): number {
    const { views, kernels } = this.#here();
    let copied = 0;
    for (let s = 0; s < sliceCount; s++) {
      const slice = slices + s * APPLY_SLICE_BYTES;
      const stride = views.u32[slice / 4 + APPLY_SLICE.stride]!;
      const gatheredIds = gathered + OFFSETS_BYTES;
      const gatheredRows = gatheredIds + lines(sliceIds * 8);
      const { first, end, bank: index, banks } = owners;
      const n = kernels.bankUpdates(slice, first, end, index, banks, gatheredIds, gatheredRows, gathered);
      if (gate !== null && gate.filter !== 0) {
        kernels.bankCounts(slice, first, end, index, banks, gate.counts + copied * 4);
      }
      const [ids, rows, slots] = [parts.ids + copied * 8, parts.rows + copied * 4, parts.slots + copied * 4];
      const [offsets, gradients] = [parts.offsets + s * OFFSETS_BYTES, parts.floats + copied * stride * 4];
      copy(views, gathered, bank.views, base + offsets, OFFSETS_BYTES);
      copy(views, gatheredIds, bank.views, base + ids, n * 8);
      copy(views, gatheredRows, bank.views, base + gradients, n * stride * 4);
      const words = [ids, parts.order, offsets, rows, gradients].map((part) => base + part);
      bank.views.u32.set([...words, stride, base + slots], (base + parts.records + s * APPLY_SLICE_BYTES) / 4);
      bank.kernels.tableFind(table, base + ids, n, base + rows, base + slots);
      copied += n;
    }
    return copied;
  }

  #baysOf(record: number): readonly Bay[] {
    let bays = this.#bays.get(record);
    if (bays === undefined) {
      const word = (index: number) => this.#here().views.u32[record / 4 + index]!;
      const banks = word(BANKED.banks);
      const sliceIds = word(BANKED.sliceIds);
      const parts = bayParts(sliceIds, word(BANKED.slices), word(BANKED.rowFloats));
      const gate = this.#gateOf(word(BANKED.gate), sliceIds * word(BANKED.slices));
      bays = Array.from({ length: banks }, (_, index) => {
        const base = word(BANKED.addresses + banks * (1 + this.#thread) + index);
        return { bank: this.#banks[index]!, table: word(BANKED.addresses + index), base, parts, sliceIds, gate };
      });
      this.#bays.set(record, bays);
    }
    return bays;
  }

  #gateOf(record: number, capacity: number): Gate | null {
    if (record === 0) return null;
    const word = (name: keyof typeof GATE) => this.#here().views.u32[record / 4 + GATE[name]]!;
    const at = word('buffers') + this.#thread * word('bufferBytes');
    const { scratch, ids, counts } = gateParts(capacity, TOUCHED_SCRATCH_BYTES);
    return {
      filter: word('filter'),
      touched: word('touched'),
      tableIndex: word('tableIndex'),
      scratch: at + scratch,
      ids: at + ids,
      counts: at + counts,
    };
  }
}

/** Words from `target` on = `present` of the ids of a bank, which are in the order bankIds gives them. */
function markPresent(
  u32: Uint32Array,
  present: Uint32Array,
  { order, offsets, bank, banks }: { order: number; offsets: number; bank: number; banks: number },
  target: number,
): void {
  let n = 0;
  for (let p = bank; p < PARTITIONS; p += banks) {
    const end = u32[offsets / 4 + p + 1]!;
    for (let k = u32[offsets / 4 + p]!; k < end; k++) u32[target / 4 + u32[order / 4 + k]!] = present[n++]!;
  }
}

function copy(from: Views, source: number, to: Views, target: number, bytes: number): void {
  if (bytes > 0) to.u8.set(from.u8.subarray(source, source + bytes), target);
}
