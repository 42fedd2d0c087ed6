/** @file Plain twin of assembly/table/route.ts: ids of slices merged by owner, and gradients on their way back. */
import { mix64BigInt } from '../../../memory/hash.js';
import { ROUTE, ROUTE_CELLS, ROUTE_FIRST, ROUTE_SLICE, ROUTE_SLICE_WORDS } from '../../../memory/route-layout.js';
import { secretOf } from '../../../memory/secret.js';
import type { Views } from '../../../memory/views.js';
import { KERNEL } from '../../kernels/kernels.js';
import { twin } from './twin.js';

type Layout = Readonly<Record<string, number>>;
type WordsOf<L extends Layout> = { readonly [K in keyof L]: number };

/** The words of a record by name; arrays are word numbers into u32. */
function recordAt<const L extends Layout>(m: Views, layout: L, at: number): WordsOf<L> {
  const entries = Object.entries(layout).map(([name, word]) => [name, m.u32[at / 4 + word]!]);
  return Object.fromEntries(entries) as WordsOf<L>;
}

type Slice = WordsOf<typeof ROUTE_SLICE> & { readonly steppedCount: number };

function routeAt(m: Views, at: number) {
  const route = recordAt(m, ROUTE, at);
  const slices = Array.from({ length: route.slices }, (_, s): Slice => {
    const slice = recordAt(m, ROUTE_SLICE, route.records + s * ROUTE_SLICE_WORDS * 4);
    return { ...slice, steppedCount: m.u32[slice.trained / 4]! };
  });
  return { ...route, slices };
}

/** Indexes of the ids of a slice in a partition. */
function* idsOf(m: Views, { order, offsets }: Slice, first: number, end = first + 1): Generator<number> {
  for (let k = m.u32[offsets / 4 + first]!; k < m.u32[offsets / 4 + end]!; k++) yield m.u32[order / 4 + k]!;
}

function idsBefore(m: Views, slices: readonly Slice[], p: number): number {
  return slices.reduce((sum, { offsets }) => sum + m.u32[offsets / 4 + p]!, 0);
}

function groupOf(id: bigint, owners: number, isRead: boolean): number {
  const n = BigInt(owners);
  return 2 * Number(((id % n) + n) % n) + (isRead ? 1 : 0);
}

export const routeGroups = twin(KERNEL.routeGroups, (m, { route: at, first, end }) => {
  const { slices, owners, ...route } = routeAt(m, at);
  const secret = secretOf(m);
  for (let p = first; p < end; p++) {
    const before = idsBefore(m, slices, p);
    const n = idsBefore(m, slices, p + 1) - before;
    const groups = route.groups / 4 + p * 2 * owners;
    m.u32.fill(0, groups, groups + 2 * owners);
    if (n === 0) continue;
    const cellCount = 2 << (32 - Math.clz32(n));
    const cells = route.cells / 4 + before * ROUTE_CELLS;
    m.u32.fill(0, cells, cells + cellCount);
    const [found, places] = [route.found / 8 + before, route.places / 4 + before];
    let known = 0;
    for (const isRead of [false, true]) {
      for (const slice of slices) {
        for (const u of idsOf(m, slice, p)) {
          if (u >= slice.steppedCount !== isRead) continue;
          const id = m.i64[slice.ids / 8 + u]!;
          let cell = Number(mix64BigInt(id, secret) % BigInt(cellCount));
          const other = () => m.u32[cells + cell]!;
          while (other() !== 0 && m.i64[found + other() - 1] !== id) cell = (cell + 1) % cellCount;
          const place = slice.place / 4 + u;
          if (other() !== 0) {
            m.u32[place] = other() - 1;
            continue;
          }
          const group = groupOf(id, owners, isRead);
          m.i64[found + known] = id;
          m.u32[places + known] = group;
          m.u32[groups + group]!++;
          m.u32[place] = known + ROUTE_FIRST;
          m.u32[cells + cell] = ++known;
        }
      }
    }
  }
});

export const routeIds = twin(KERNEL.routeIds, (m, { route: at, first, end, cursors }) => {
  const { slices, owners, partitions, ...route } = routeAt(m, at);
  const count = (group: number, from: number, to: number) => {
    let ids = 0;
    for (let p = from; p < to; p++) ids += m.u32[route.groups / 4 + p * 2 * owners + group]!;
    return ids;
  };
  let [total, stepped] = [0, 0];
  for (let group = 0; group < 2 * owners; group++) {
    m.u32[cursors / 4 + group] = total + count(group, 0, first);
    if (group % 2 === 0) stepped += count(group, 0, first);
    total += count(group, 0, partitions);
    if (first === 0) m.u32[route.ends / 4 + group + 1] = total;
  }
  if (first === 0) m.u32[route.ends / 4] = 0;
  for (let p = first; p < end; p++) {
    const before = idsBefore(m, slices, p);
    let known = 0;
    for (let group = 0; group < 2 * owners; group++) known += count(group, p, p + 1);
    m.u32[route.offsets / 4 + p] = stepped;
    const places = route.places / 4 + before;
    for (let u = 0; u < known; u++) {
      const group = m.u32[places + u]!;
      const index = m.u32[cursors / 4 + group]!++;
      m.i64[route.ids / 8 + index] = m.i64[route.found / 8 + before + u]!;
      m.u32[places + u] = index;
      if (route.counts !== 0) m.u32[route.counts / 4 + index] = 0;
      if (group % 2 === 0) m.u32[route.order / 4 + stepped++] = index;
    }
    for (const slice of slices) {
      for (const u of idsOf(m, slice, p)) {
        const known = m.u32[slice.place / 4 + u]!;
        const index = m.u32[places + (known & ~ROUTE_FIRST)]!;
        m.u32[slice.place / 4 + u] = (known & ROUTE_FIRST) | index;
        if (route.counts === 0 || u >= slice.steppedCount) continue;
        m.u32[route.counts / 4 + index]! += m.u32[slice.counts / 4 + u]!;
      }
    }
  }
  if (end === partitions) m.u32[route.offsets / 4 + partitions] = stepped;
});

const placeAt = (m: Views, place: number, i: number): number => m.u32[place / 4 + i]! & ~ROUTE_FIRST;

export const rowsOfRoute = twin(KERNEL.rowsOfRoute, (m, { place, n, rows, stride, out }) => {
  for (let i = 0; i < n; i++) m.u32[out / 4 + i] = rows + placeAt(m, place, i) * stride * 4;
});

export const mergeRoute = twin(KERNEL.mergeRoute, (m, { route: at, first, end, sums }) => {
  const { slices, dim, stride, gradients } = routeAt(m, at);
  slices.forEach((slice, s) => {
    for (const u of idsOf(m, slice, first, end)) {
      if (u >= slice.steppedCount) continue;
      const isFirst = m.u32[slice.place / 4 + u]! >= ROUTE_FIRST;
      const from = m.u32[sums / 4 + s]! / 4 + u * stride;
      const to = gradients / 4 + placeAt(m, slice.place, u) * stride;
      if (isFirst) m.u32.copyWithin(to, from, from + dim);
      else for (let c = 0; c < dim; c++) m.f32[to + c]! += m.f32[from + c]!;
    }
  });
});

export const countsOfRoute = twin(KERNEL.countsOfRoute, (m, { place, n, merged, counts }) => {
  for (let i = 0; i < n; i++) if (m.u32[merged / 4 + placeAt(m, place, i)] === 0) m.u32[counts / 4 + i] = 0;
});
