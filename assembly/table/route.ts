// The way of ids and gradients between the slices of a batch and whoever has the rows: each id once, owner by owner,
// and the sum of its gradients over the slices. src/memory/route-layout.ts draws a route.
//
// Ids are merged in two passes with a barrier between them: how many each partition has for each owner, then each in
// its place. Every thread has partitions of its own, so nothing is locked, and the order is that of any number of them.
import { WORD } from "../units";
import { ROUTE, ROUTE_CELLS, ROUTE_FIRST, ROUTE_SLICE, ROUTE_SLICE_BYTES } from "../generated/layouts";
import { mixSecretly, secretOf } from "../hash";
import { addRowF32, copyFloats } from "../sparse";

/** What comes before the group of ids of `owner` that are only read is the group of those that are stepped. */
@inline
function groupOf(id: i64, owners: i64, isRead: u32): usize {
  let owner: i64 = 0;
  if (owners > 1) {
    owner = id % owners;
    if (owner < 0) owner += owners;
  }
  return (<usize>owner << 1) + isRead;
}

@inline
function recordOf(route: usize, s: u32): usize {
  return <usize>load<u32>(route, ROUTE.records) + <usize>s * ROUTE_SLICE_BYTES;
}

/** How many ids of all slices are in the partitions before `p`. */
function idsBefore(route: usize, slices: u32, p: u32): usize {
  let ids: usize = 0;
  for (let s: u32 = 0; s < slices; s++) {
    ids += <usize>load<u32>(<usize>load<u32>(recordOf(route, s), ROUTE_SLICE.offsets) + (<usize>p << 2));
  }
  return ids;
}

/**
 * Adds the ids of partition `p` of a slice to those that were found, `isRead` those that are only read, else those that
 * are stepped. Returns how many were found.
 */
function findUnique(
  slice: usize, p: u32, isRead: u32, cells: usize, mask: u32, found: usize, places: usize, groups: usize, owners: i64,
  known: u32,
): u32 {
  const ids = <usize>load<u32>(slice, ROUTE_SLICE.ids);
  const order = <usize>load<u32>(slice, ROUTE_SLICE.order);
  const offsets = <usize>load<u32>(slice, ROUTE_SLICE.offsets) + (<usize>p << 2);
  const trained = load<u32>(<usize>load<u32>(slice, ROUTE_SLICE.trained));
  const place = <usize>load<u32>(slice, ROUTE_SLICE.place);
  const secret = secretOf();
  for (let k = load<u32>(offsets); k < load<u32>(offsets, WORD); k++) {
    const u = load<u32>(order + (<usize>k << 2));
    if (<u32>(u >= trained) != isRead) continue;
    const id = load<i64>(ids + (<usize>u << 3));
    let at = <u32>mixSecretly(id, secret) & mask;
    let cell = load<u32>(cells + (<usize>at << 2));
    while (cell != 0 && load<i64>(found + (<usize>(cell - 1) << 3)) != id) {
      at = (at + 1) & mask;
      cell = load<u32>(cells + (<usize>at << 2));
    }
    if (cell != 0) store<u32>(place + (<usize>u << 2), cell - 1);
    else {
      const group = groupOf(id, owners, isRead);
      const count = groups + (group << 2);
      store<i64>(found + (<usize>known << 3), id);
      store<u32>(places + (<usize>known << 2), <u32>group);
      store<u32>(count, load<u32>(count) + 1);
      store<u32>(place + (<usize>u << 2), known | ROUTE_FIRST);
      known++;
      store<u32>(cells + (<usize>at << 2), known);
    }
  }
  return known;
}

/** First pass over the partitions [first, end): their unique ids, and how many of them each owner has. */
export function routeGroups(route: usize, first: u32, end: u32): void {
  const slices = load<u32>(route, ROUTE.slices);
  const owners = load<u32>(route, ROUTE.owners);
  for (let p = first; p < end; p++) {
    const before = idsBefore(route, slices, p);
    const n = <u32>(idsBefore(route, slices, p + 1) - before);
    const groups = <usize>load<u32>(route, ROUTE.groups) + <usize>p * (<usize>owners << 3);
    memory.fill(groups, 0, <usize>owners << 3);
    if (n == 0) continue;
    // Between two and four cells for each id: fewer than it has room for.
    const mask: u32 = (2 << (32 - clz<u32>(n))) - 1;
    const cells = <usize>load<u32>(route, ROUTE.cells) + before * ROUTE_CELLS * 4;
    memory.fill(cells, 0, (<usize>mask + 1) << 2);
    const found = <usize>load<u32>(route, ROUTE.found) + (before << 3);
    const places = <usize>load<u32>(route, ROUTE.places) + (before << 2);
    let known: u32 = 0;
    // All that are stepped come before any that are read, whatever slice they are of.
    for (let isRead: u32 = 0; isRead < 2; isRead++) {
      for (let s: u32 = 0; s < slices; s++) {
        known = findUnique(
          recordOf(route, s), p, isRead, cells, mask, found, places, groups, <i64>owners, known,
        );
      }
    }
  }
}

/** Ids that the partitions [first, end) have of a group. */
function idsOfGroup(groups: usize, width: usize, group: usize, first: u32, end: u32): u32 {
  let ids: u32 = 0;
  for (let p = first; p < end; p++) ids += load<u32>(groups + <usize>p * width + (group << 2));
  return ids;
}

/** Puts unique ids of a partition in their places, by the cursors of their groups; returns how many are stepped. */
function placeUnique(route: usize, before: usize, known: u32, cursors: usize, stepped: u32): u32 {
  const ids = <usize>load<u32>(route, ROUTE.ids);
  const order = <usize>load<u32>(route, ROUTE.order);
  const counts = <usize>load<u32>(route, ROUTE.counts);
  const found = <usize>load<u32>(route, ROUTE.found) + (before << 3);
  const places = <usize>load<u32>(route, ROUTE.places) + (before << 2);
  for (let u: usize = 0; u < <usize>known; u++) {
    const group = load<u32>(places + (u << 2));
    const cursor = cursors + (<usize>group << 2);
    const index = load<u32>(cursor);
    store<u32>(cursor, index + 1);
    store<i64>(ids + (<usize>index << 3), load<i64>(found + (u << 3)));
    store<u32>(places + (u << 2), index);
    if (counts != 0) store<u32>(counts + (<usize>index << 2), 0);
    if ((group & 1) != 0) continue;
    store<u32>(order + (<usize>stepped << 2), index);
    stepped++;
  }
  return stepped;
}

/** Tells a slice where its ids of partition `p` are, and adds how often they came. */
function tellSlice(slice: usize, p: u32, places: usize, counts: usize): void {
  const order = <usize>load<u32>(slice, ROUTE_SLICE.order);
  const offsets = <usize>load<u32>(slice, ROUTE_SLICE.offsets) + (<usize>p << 2);
  const place = <usize>load<u32>(slice, ROUTE_SLICE.place);
  const own = <usize>load<u32>(slice, ROUTE_SLICE.counts);
  const trained = load<u32>(<usize>load<u32>(slice, ROUTE_SLICE.trained));
  for (let k = load<u32>(offsets); k < load<u32>(offsets, WORD); k++) {
    const u = load<u32>(order + (<usize>k << 2));
    const at = place + (<usize>u << 2);
    const known = load<u32>(at);
    const index = load<u32>(places + (<usize>(known & ~ROUTE_FIRST) << 2));
    store<u32>(at, index | (known & ROUTE_FIRST));
    if (counts == 0 || u >= trained) continue;
    const count = counts + (<usize>index << 2);
    store<u32>(count, load<u32>(count) + load<u32>(own + (<usize>u << 2)));
  }
}

/**
 * Second pass over the partitions [first, end), when all have made the first: ids by owner, where each slice finds its
 * own, the stepped ones by partition, and how often each came. `cursors` has room for two words of each owner.
 */
export function routeIds(route: usize, first: u32, end: u32, cursors: usize): void {
  const slices = load<u32>(route, ROUTE.slices);
  const partitions = load<u32>(route, ROUTE.partitions);
  const groupCount = <usize>load<u32>(route, ROUTE.owners) << 1;
  const width = groupCount << 2;
  const groups = <usize>load<u32>(route, ROUTE.groups);
  const ends = <usize>load<u32>(route, ROUTE.ends);
  const offsets = <usize>load<u32>(route, ROUTE.offsets);
  const counts = <usize>load<u32>(route, ROUTE.counts);
  let total: u32 = 0;
  let stepped: u32 = 0;
  for (let group: usize = 0; group < groupCount; group++) {
    const before = idsOfGroup(groups, width, group, 0, first);
    store<u32>(cursors + (group << 2), total + before);
    if ((group & 1) == 0) stepped += before;
    total += before + idsOfGroup(groups, width, group, first, partitions);
    if (first == 0) store<u32>(ends + (group << 2), total, WORD);
  }
  if (first == 0) store<u32>(ends, 0);
  for (let p = first; p < end; p++) {
    const before = idsBefore(route, slices, p);
    let known: u32 = 0;
    for (let group: usize = 0; group < groupCount; group++) {
      known += load<u32>(groups + <usize>p * width + (group << 2));
    }
    store<u32>(offsets + (<usize>p << 2), stepped);
    stepped = placeUnique(route, before, known, cursors, stepped);
    const places = <usize>load<u32>(route, ROUTE.places) + (before << 2);
    for (let s: u32 = 0; s < slices; s++) tellSlice(recordOf(route, s), p, places, counts);
  }
  if (end == partitions) store<u32>(offsets + (<usize>partitions << 2), stepped);
}

/** out[i] = address of the row of the i-th id of a slice, where rows are `stride` floats apart from `rows` on. */
export function rowsOfRoute(place: usize, n: u32, rows: usize, stride: u32, out: usize): void {
  const bytes = stride << 2;
  for (let i: usize = 0; i < <usize>n; i++) {
    store<u32>(out + (i << 2), <u32>rows + (load<u32>(place + (i << 2)) & ~ROUTE_FIRST) * bytes);
  }
}

/**
 * Adds the gradients of the partitions [first, end) up per id, in the order of slices. `sums` has the address of those
 * of each slice, which are as far apart as the route's.
 */
export function mergeRoute(route: usize, first: u32, end: u32, sums: usize): void {
  const slices = load<u32>(route, ROUTE.slices);
  const dim = load<u32>(route, ROUTE.dim);
  const bytes = <usize>load<u32>(route, ROUTE.stride) << 2;
  const gradients = <usize>load<u32>(route, ROUTE.gradients);
  for (let s: u32 = 0; s < slices; s++) {
    const slice = recordOf(route, s);
    const from = <usize>load<u32>(sums + (<usize>s << 2));
    const order = <usize>load<u32>(slice, ROUTE_SLICE.order);
    const offsets = <usize>load<u32>(slice, ROUTE_SLICE.offsets);
    const trained = load<u32>(<usize>load<u32>(slice, ROUTE_SLICE.trained));
    const place = <usize>load<u32>(slice, ROUTE_SLICE.place);
    for (let k = load<u32>(offsets + (<usize>first << 2)); k < load<u32>(offsets + (<usize>end << 2)); k++) {
      const u = load<u32>(order + (<usize>k << 2));
      if (u >= trained) continue;
      const where = load<u32>(place + (<usize>u << 2));
      const to = gradients + <usize>(where & ~ROUTE_FIRST) * bytes;
      if ((where & ROUTE_FIRST) != 0) copyFloats(from + <usize>u * bytes, to, <usize>dim << 2);
      else addRowF32(from + <usize>u * bytes, to, dim);
    }
  }
}

/** counts[i] = 0 where the id of a slice was asked for and has a row, as `merged` says: what filterCount goes by. */
export function countsOfRoute(place: usize, n: u32, merged: usize, counts: usize): void {
  for (let i: usize = 0; i < <usize>n; i++) {
    const index = load<u32>(place + (i << 2)) & ~ROUTE_FIRST;
    if (load<u32>(merged + (<usize>index << 2)) == 0) store<u32>(counts + (i << 2), 0);
  }
}
