/**
 * @file Reads a checkpoint without our manifest, such as one of the reference: the tensor bundle, and what is in the
 * assets.
 *
 * Files of tables do not tell what their rows are made of: they are read as rows of the session's tables, which they
 * fit or are refused. A table may lie in files of its own, in one set for each parameter server, or together with
 * others in a multi table.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MonolithError } from '../base/errors.js';
import { nodeFileSystem } from '../base/files/file-system.js';
import { GLOBAL_STEP } from '../graph/ops/state.js';
import { tableBaseName } from '../io/shard-files.js';
import { readTensorBundle } from '../io/tensor-bundle.js';
import { readFilter } from '../sparse/admission/filter-files.js';
import { sharedName } from '../sparse/config/shared-name.js';
import { featureStat, META_SUFFIX } from '../sparse/files/multi-meta.js';
import { readMultiTableBeside } from '../sparse/files/restore-multi-table.js';
import { readFilesBeside, shardFilesOf } from '../sparse/files/restore-table.js';
import { assetDir, INDEX_SUFFIX } from './names.js';
import type { SideTable } from './restore-match.js';
import type { RestoreSource, TablePair } from './restore-source.js';
import type { DenseValue } from './snapshot.js';
import { wrapped } from './verify-checkpoint.js';

const SHARD_SUFFIX = /-\d{5}-of-\d{5}$/;
const FILTER_NAME = /^hash_filter_\d+$/;

/** Where the rows of a table are: files of its own, by base name, or a multi table. */
type TablePlace = { readonly bases: readonly string[] } | { readonly multi: readonly string[] };

/** `wanted` are the names that tables of the session may have in it. */
export async function readForeign(prefix: string, wanted: readonly string[]): Promise<RestoreSource> {
  const tensors = isFile(`${prefix}${INDEX_SUFFIX}`) ? wrapped(`${prefix}.index`, () => readTensorBundle(prefix)) : [];
  const step = tensors.find(({ name }) => name === GLOBAL_STEP);
  const dir = assetDir(prefix);
  const bases = basesIn(dir);
  const places = await placesOf(dir, bases, new Set(wanted));
  const count = step?.data instanceof BigInt64Array || step?.data instanceof Int32Array ? step.data[0] : undefined;
  return {
    path: prefix,
    step: count === undefined ? null : Number(count),
    dense: tensors.filter((tensor) => tensor !== step) as unknown as DenseValue[],
    tables: [...places.keys()].map((name) => ({ name })),
    filters: bases
      .filter((base) => FILTER_NAME.test(base))
      .map((name) => ({ name, prepare: (filter) => readFilter(filter, join(dir, name)) })),
    async readTables(pairs, pending) {
      const together = new Map<string, { bases: readonly string[]; pairs: TablePair[] }>();
      for (const pair of pairs) {
        const place = places.get(pair.from)!;
        if ('bases' in place) {
          const files = await Promise.all(place.bases.map((base) => shardFilesOf(join(dir, base), nodeFileSystem)));
          pending.push(await readFilesBeside(pair.table, files.flat()));
          continue;
        }
        const key = place.multi.join();
        const group = together.get(key) ?? { bases: place.multi, pairs: [] };
        group.pairs.push(pair);
        together.set(key, group);
      }
      for (const group of together.values()) {
        const tables = group.pairs.map(({ from: name, table }) => ({ name, table }));
        const from = group.bases.map((base) => join(dir, base));
        pending.push(await readMultiTableBeside(tables, from));
      }
    },
  };
}

/** Names that a table of a session may have in files of the reference, the likeliest first. */
export function foreignNames({ name, extraRestoreNames = [] }: SideTable): string[] {
  const prefix = sharedName('hashTable', '');
  const names = [name, ...extraRestoreNames].flatMap((known) => {
    const bare = known.startsWith(prefix) ? known.slice(prefix.length) : known;
    return [known, sharedName('hashTable', bare), bare];
  });
  return [...new Set(names.flatMap((known) => [known, tableBaseName(known)]))];
}

/** Base names of all sharded files. */
function basesIn(dir: string): string[] {
  if (statSync(dir, { throwIfNoEntry: false }) === undefined) return [];
  const names = readdirSync(dir).filter((name) => SHARD_SUFFIX.test(name));
  return [...new Set(names.map((name) => name.replace(SHARD_SUFFIX, '')))].sort();
}

async function placesOf(
  dir: string,
  bases: readonly string[],
  wanted: ReadonlySet<string>,
): Promise<Map<string, TablePlace>> {
  const places = new Map<string, TablePlace>();
  const known = new Set(bases);
  const multis = bases.filter((base) => known.has(`${base}${META_SUFFIX}`));
  const singles = bases.filter((base) => {
    return !known.has(`${base}${META_SUFFIX}`) && !multis.some((multi) => base === `${multi}${META_SUFFIX}`);
  });
  const servers = new Map<string, string[]>();
  for (const base of singles) {
    if (FILTER_NAME.test(base)) continue;
    const stem = base.replace(/_\d+$/, '');
    if (!wanted.has(base) && stem !== base && wanted.has(stem)) {
      servers.set(stem, [...(servers.get(stem) ?? []), base]);
    } else places.set(base, { bases: [base] });
  }
  for (const [stem, parts] of servers) {
    if (places.has(stem)) continue;
    const missing = parts.findIndex((_, server) => !parts.includes(`${stem}_${server}`));
    if (missing >= 0) {
      throw new MonolithError('ML_CKPT_SHARDS', { reason: `Shard ${missing} doesn't show up for ${join(dir, stem)}` });
    }
    places.set(stem, { bases: parts });
  }
  const inMulti = new Map<string, string[]>();
  for (const base of multis) {
    for (const name of (await featureStat(join(dir, base))).keys()) {
      inMulti.set(name, [...(inMulti.get(name) ?? []), base]);
    }
  }
  for (const [name, multi] of inMulti) if (!places.has(name)) places.set(name, { multi });
  return places;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
