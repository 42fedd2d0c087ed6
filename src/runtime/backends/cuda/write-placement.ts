/** @file Writes down what a GPU's thread must know of the arena; memory/placement-layout.ts draws it. */
import { isOnCpu } from '../../../graph/device-utils.js';
import type { OpDef } from '../../../graph/graph.js';
import { Variable } from '../../../graph/ops/state.js';
import type { Arena } from '../../../memory/arena.js';
import { PLACEMENT_WORDS } from '../../../memory/placement-layout.js';
import type { Views } from '../../../memory/views.js';
import type { LaidOutProgram } from '../../compile/compiler.js';

/** Address of the record of a program that is laid out but for its contexts. */
export function writePlacement(
  { arena, views }: { readonly arena: Arena; readonly views: Views },
  residents: { readonly address: number; readonly count: number },
  tables: readonly number[],
  { context, fetched }: LaidOutProgram,
): number {
  const read = [...fetched].flatMap((tensor) => {
    if (tensor.op.def === (Variable as OpDef<unknown>)) return []; // the session asks for its values itself
    const storage = context.storage(tensor);
    return storage.kind === 'feed' ? [] : [storage.base];
  });
  // The host pushes the gradients of a cut step.
  for (const gradients of context.pushed) {
    for (let lease = 0; lease < context.leases; lease++) read.push(gradients.at(0, lease));
  }
  const words = (list: readonly number[], what: string): number => {
    const at = arena.alloc(list.length * 4, what);
    views.u32.set(list, at / 4);
    return at;
  };
  const fetchedAt = words(read, 'fetched addresses');
  const names = [...context.instructions].flatMap(([name, op]) => (isOnCpu(op.device) ? [name] : []));
  const namesAt = words(names, 'names of the host');
  const tablesAt = words(tables, 'tables of the device');
  const results = [...context.slice.results];
  const resultsAt = words(results, 'result registers');
  const begins = [...arena.blocks];
  const blocks = words([...begins, arena.begin + arena.used], 'blocks');
  const at = arena.alloc(PLACEMENT_WORDS * 4, 'placement');
  const lists = [
    residents.address,
    residents.count,
    blocks,
    begins.length,
    fetchedAt,
    read.length,
    namesAt,
    names.length,
    tablesAt,
    tables.length,
    resultsAt,
    results.length,
  ];
  views.u32.set(lists, at / 4);
  return at;
}
