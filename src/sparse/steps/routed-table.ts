/**
 * @file A table of a step whose rows somebody else brings: the ids of all slices become one list by owner, which rows
 * come in by and gradients go out by. memory/route-layout.ts draws it.
 *
 * The table of the session can be that somebody too, for `pullHere` and `pushHere`: then the slices have a share of the
 * list each.
 */
import { wordsOf } from '../../memory/record-layout.js';
import { ROUTE, ROUTE_CELLS, ROUTE_SLICE, ROUTE_SLICE_WORDS, ROUTE_WORDS } from '../../memory/route-layout.js';
import { APPLY_SLICE, APPLY_SLICE_BYTES, LOOKUP_SCRATCH_BYTES, PARTITIONS } from '../../memory/table-layout.js';
import type { Register } from '../../runtime/compile/code.js';
import type { LeasedBlocks, LoweringContext, PerBatch, PerLease } from '../../runtime/compile/lowering.js';
import { KERNEL } from '../../runtime/kernels/kernels.js';
import type { HashTable } from '../table/hash-table.js';
import type { GradientSums } from './gradient-sums.js';
import { threadShares } from './thread-shares.js';

/** The ids of a slice, as the route merges them. */
export interface SliceIds {
  readonly ids: PerLease;
  readonly count: Register;
  /** Of all ids, by partition. */
  readonly order: PerLease;
  readonly offsets: PerLease;
  /** Address of how many are stepped. */
  readonly trained: (slice: number, lease: number) => number;
  readonly counts: PerLease | undefined;
  /** Ids a slice can have. */
  readonly capacity: number;
}

/** What the threads step rows by. */
interface Update {
  readonly rows: PerBatch;
  readonly slots: PerBatch;
  /** Records of tableApply: one for each lease. */
  readonly records: Register;
}

export class RoutedTable {
  readonly leased: LeasedBlocks;
  /** Addresses of the rows of a slice's ids. */
  readonly shown: Register;
  readonly #context: LoweringContext;
  readonly #table: HashTable;
  readonly #slices: SliceIds;
  readonly #place: PerLease;
  readonly #route: PerBatch;
  readonly #order: PerBatch;
  readonly #offsets: PerBatch;
  /** Ids of a batch at the most. */
  readonly #capacity: number;

  constructor(context: LoweringContext, table: HashTable, slices: SliceIds) {
    const { plan } = context;
    this.#context = context;
    this.#table = table;
    this.#slices = slices;
    const capacity = slices.capacity * plan.slices;
    this.#capacity = capacity;
    const stride = Math.ceil(table.dim / 4) * 4;
    const { owners } = context.cut!;
    const routed = {
      owners,
      ids: context.perBatch(capacity * 8, 'ids by owner'),
      ends: context.perBatch((2 * owners + 1) * 4, 'ends of owners'),
      rows: context.perBatch(capacity * stride * 4, 'rows by owner'),
      gradients: context.perBatch(capacity * stride * 4, 'gradients by owner'),
      counts: context.perBatch(capacity * 4, 'counts by owner'),
    };
    this.leased = { name: table.name, dim: table.dim, stride, capacity, routed, times: undefined };
    context.leased.push(this.leased);
    this.#place = context.perLease(slices.capacity * 4, 'places');
    this.#order = context.perBatch(capacity * 4, 'order of all');
    this.#offsets = context.perBatch((PARTITIONS + 1) * 4, 'offsets of all');
    this.#route = this.#writeRoutes();
    this.#lowerRoute();
    this.shown = this.#lowerRows();
    context.inPart('pull', () => this.#lowerPull());
  }

  get #routed() {
    return this.leased.routed!;
  }

  /** The records of routes: one for each lease, with those of its slices behind it. */
  #writeRoutes(): PerBatch {
    const { plan, environment, leases } = this.#context;
    const { owners, ids, ends, gradients, counts } = this.#routed;
    const bytes = (ROUTE_WORDS + ROUTE_SLICE_WORDS * plan.slices) * 4;
    const route = this.#context.perBatch(bytes, 'route', { constant: true });
    // One batch is routed at a time.
    const alloc = (bytes: number, what: string) => this.#context.alloc(bytes, what);
    const shared = {
      groups: alloc(PARTITIONS * 2 * owners * 4, 'groups'),
      found: alloc(this.#capacity * 8, 'found ids'),
      places: alloc(this.#capacity * 4, 'places of found ids'),
      cells: alloc(this.#capacity * ROUTE_CELLS * 4, 'cells'),
    };
    const { trained, ...slices } = this.#slices;
    for (let lease = 0; lease < leases; lease++) {
      const at = route.at(lease);
      const words = wordsOf(ROUTE, ROUTE_WORDS, {
        ...shared,
        owners,
        slices: plan.slices,
        records: at + ROUTE_WORDS * 4,
        ids: ids.at(lease),
        ends: ends.at(lease),
        order: this.#order.at(lease),
        offsets: this.#offsets.at(lease),
        counts: slices.counts === undefined ? 0 : counts.at(lease),
        gradients: gradients.at(lease),
        stride: this.leased.stride,
        dim: this.leased.dim,
        partitions: PARTITIONS,
      });
      const own = Array.from({ length: plan.slices }, (_, slice) =>
        wordsOf(ROUTE_SLICE, ROUTE_SLICE_WORDS, {
          ids: slices.ids.at(slice, lease),
          order: slices.order.at(slice, lease),
          offsets: slices.offsets.at(slice, lease),
          trained: trained(slice, lease),
          place: this.#place.at(slice, lease),
          counts: slices.counts?.at(slice, lease) ?? 0,
        }),
      );
      environment.views.u32.set([...words, ...own.flat()], at / 4);
    }
    return route;
  }

  /** All partitions make the first pass before any makes the second. */
  #lowerRoute(): void {
    const context = this.#context;
    const route = this.#route.inThreads;
    const { first, end } = threadShares(context);
    const cursorBytes = Math.ceil((2 * this.#routed.owners * 4) / 64) * 64;
    const cursors = context.alloc(cursorBytes * context.plan.threads, 'cursors');
    const own = context.thread.each((index) => cursors + index * cursorBytes);
    context.inPart('ids', () => context.emitThread(KERNEL.routeGroups, { route, first, end }));
    context.inPart('ids', () => context.emitThread(KERNEL.routeIds, { route, first, end, cursors: own }), 2);
  }

  /** Addresses of rows are found by the step itself: who computes in another memory copies the rows there then. */
  #lowerRows(): Register {
    const context = this.#context;
    const { capacity, count } = this.#slices;
    const addresses = context.perLease(capacity * 4, 'addresses of rows');
    context.emit(KERNEL.rowsOfRoute, {
      place: this.#place.pointer,
      n: count,
      rows: this.#routed.rows.inSlices,
      stride: context.slice.constant(this.leased.stride),
      out: addresses.pointer,
    });
    return addresses.pointer;
  }

  /** How many ids are the share of a slice, and a way to say where the share begins in a list. */
  #share() {
    const context = this.#context;
    const { slice, plan } = context;
    const { ends, owners } = this.#routed;
    const count = slice.each((_, lease) => ends.at(lease) + 2 * owners * 4);
    const which = { count, share: slice.each((index) => index), shares: slice.constant(plan.slices) };
    const n = slice.each();
    context.emit(KERNEL.shareOf, which, n);
    const at = (list: PerBatch, bytes: number): Register => {
      const result = slice.each((_, lease) => list.at(lease));
      context.emit(KERNEL.shareAt, { base: list.inSlices, ...which, bytes: slice.constant(bytes) }, result);
      return result;
    };
    return { n, at };
  }

  #lowerPull(): void {
    const context = this.#context;
    const { slice } = context;
    const { ids, rows } = this.#routed;
    const { n, at } = this.#share();
    const { stride } = this.leased;
    context.emit(KERNEL.tableRetrieve, {
      table: slice.constant(this.#table.address),
      ids: at(ids, 8),
      n,
      out: { pointer: at(rows, stride * 4), stride: slice.constant(stride) },
      scratch: context.perSlice(LOOKUP_SCRATCH_BYTES, 'retrieve scratch').pointer,
    });
  }

  /** Adds the gradients of all slices up, per id and in the order of slices. */
  merge(sums: GradientSums): void {
    const context = this.#context;
    const { plan, leases, thread } = context;
    const list = context.alloc(plan.slices * leases * 4, 'sums of slices');
    for (let s = 0; s < plan.slices * leases; s++) {
      const [slice, lease] = [s % plan.slices, Math.floor(s / plan.slices)];
      context.environment.views.u32[list / 4 + s] = sums.at(slice, lease);
    }
    context.emitThread(KERNEL.mergeRoute, {
      route: this.#route.inThreads,
      ...threadShares(context),
      sums: thread.each((_, lease) => list + lease * plan.slices * 4),
    });
  }

  /** Finds the rows to step, and asks the filter, if there is one; the records of what is stepped. */
  lowerFind(filter: { readonly pointer: number; readonly thresholds: number } | undefined): Register {
    const context = this.#context;
    const { slice } = context;
    const { ids, counts } = this.#routed;
    const update = this.#update();
    const { n, at } = this.#share();
    const slots = at(update.slots, 4);
    const found = { ids: at(ids, 8), n };
    const table = slice.constant(this.#table.address);
    context.emit(KERNEL.tableFind, { table, ...found, rows: at(update.rows, 4), slots });
    if (filter !== undefined) {
      const asked = { filter: slice.constant(filter.pointer), thresholds: slice.constant(filter.thresholds) };
      context.emit(KERNEL.filterAsk, { ...asked, ...found, slots, counts: at(counts, 4) });
    }
    return update.records;
  }

  /** Has each slice forget the counts of ids that have a row: what is left is counted in the order it came. */
  lowerCounts(trained: Register): void {
    this.#context.emit(KERNEL.countsOfRoute, {
      place: this.#place.pointer,
      n: trained,
      merged: this.#routed.counts.inSlices,
      counts: this.#slices.counts!.pointer,
    });
  }

  #update(): Update {
    const context = this.#context;
    const { leases, environment } = context;
    const { ids, gradients, counts } = this.#routed;
    const rows = context.perBatch(this.#capacity * 4, 'rows to step');
    const slots = context.perBatch(this.#capacity * 4, 'slots');
    const records = context.alloc(APPLY_SLICE_BYTES * leases, 'what is stepped');
    for (let lease = 0; lease < leases; lease++) {
      const words = wordsOf(APPLY_SLICE, APPLY_SLICE_BYTES / 4, {
        ids: ids.at(lease),
        order: this.#order.at(lease),
        offsets: this.#offsets.at(lease),
        rows: rows.at(lease),
        gradients: gradients.at(lease),
        stride: this.leased.stride,
        slots: slots.at(lease),
        counts: counts.at(lease),
      });
      environment.views.u32.set(words, records / 4 + (lease * APPLY_SLICE_BYTES) / 4);
    }
    return { rows, slots, records: context.thread.each((_, lease) => records + lease * APPLY_SLICE_BYTES) };
  }
}
