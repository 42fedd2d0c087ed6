/** @file Cases of table files: their names, whole sets of them, what a restore gives back. */
import { readdirSync } from 'node:fs';
import { encodeMessage } from '../../../src/io/message.js';
import { shardFileName, validateShardedFiles } from '../../../src/io/shard-files.js';
import { MultiHashTableMetadataMessage } from '../../../src/sparse/config/config-messages.js';
import { MultiHashTable } from '../../../src/sparse/many/multi-hash-table.js';
import { type Fields, fieldsOf, orError, type ParityCase, type ParityHandlers, UnknownForm } from '../case.js';
import { inDirectory, recordOf, restoreBoth } from '../table-files.js';
import { TableRun } from '../table-run.js';
import { CaseTables, configOf, rowsOf } from '../tables.js';
import { f32, ids } from '../values.js';

function files({ input }: ParityCase) {
  const given = fieldsOf(input, [], ['basename', 'shards', 'sets']);
  if (given.sets === undefined) {
    const count = given.shards as number;
    return Array.from({ length: count }, (_, shard) => shardFileName(given.basename as string, shard, count));
  }
  const found = (given.sets as [string, string[]][]).map(([base, names]) =>
    orError(() => ({ shards: validateShardedFiles(base, names).length })),
  );
  return {
    ok: found.map((one) => !('error' in one)),
    shards: found.map((one) => ('error' in one ? 0 : one.shards)),
  };
}

async function checkpoint(parity: ParityCase) {
  const optional = ['dim', 'assign_add', 'assign', 'entries', 'expire_days', 'slot_expire_time', 'max_ts'];
  const given = fieldsOf(parity.input, [], [...optional, 'basename', 'tables', 'table_name', 'num_entries']);
  if (given.basename !== undefined) return missing(given);
  if (given.table_name !== undefined) return metaRecord(given);
  if (given.tables !== undefined) return multi(given, parity.expected as Fields);
  return inDirectory(async (dir) => {
    const config = configOf({ dim: given.dim ?? 1 }, given);
    const run = new TableRun(await CaseTables.create(), config, { dir });
    const rows = (given.assign_add ?? given.assign ?? given.entries) as [unknown, unknown, unknown?][];
    for (const [id, value, time] of rows) run.assign([id], [value], { add: given.assign === undefined, time });
    if (given.max_ts !== undefined && run.table.maxUpdateSec !== given.max_ts) {
      throw new UnknownForm(`the newest row is of ${run.table.maxUpdateSec}, not of ${given.max_ts}`);
    }
    await run.run('save');
    await run.run({ op: 'restore_into_new' });
    const found = run.rows(rows.map(([id]) => id));
    return { lookup: found, lookup_after_restore: found };
  });
}

async function missing({ basename }: Fields) {
  const table = (await CaseTables.create()).table(configOf({}));
  return inDirectory(async (dir) => {
    const failed = restoreBoth(table, undefined, `${dir}/${basename}`);
    return {
      error: await failed.then(
        () => false,
        () => true,
      ),
    };
  });
}

async function metaRecord({ table_name, num_entries }: Fields) {
  const meta = { tableName: table_name as string, numEntries: num_entries as number };
  const record = await recordOf(encodeMessage(MultiHashTableMetadataMessage, meta));
  return { record_hex: Buffer.from(record).toString('hex') };
}

/** Several tables through one set of files; names have `<suffix>` for whatever the table is called. */
async function multi(given: Fields, expected: Fields) {
  const nameSuffix = 'parity';
  const dims = given.tables as Record<string, number>;
  const configs = Object.fromEntries(Object.entries(dims).map(([slot, dim]) => [slot, configOf({ dim })]));
  const make = async () => {
    const { memory } = await CaseTables.create();
    return MultiHashTable.create(memory, configs, { nameSuffix });
  };
  const [source, target] = [await make(), await make()];
  const rows = given.assign_add as Record<string, [unknown, number[]][]>;
  for (const [slot, list] of Object.entries(rows)) {
    const values = f32(list.map(([, row]) => row)).data;
    source.assignAdd({ [slot]: { ids: ids(list.map(([id]) => id)), values } });
  }
  return inDirectory(async (dir) => {
    await source.save(`${dir}/${source.name}`);
    await target.restore(`${dir}/${source.name}`);
    const lookup = Object.fromEntries(
      Object.keys(expected.lookup as Fields).map((slot) => {
        const which = ids(rows[slot]!.map(([id]) => id));
        return [slot, rowsOf(target.lookup({ [slot]: which })[slot]!, dims[slot]!)];
      }),
    );
    const names = readdirSync(dir).map((name) => name.replace(`_${nameSuffix}`, '_<suffix>'));
    return { lookup, files: names.sort() };
  });
}

export const handlers: ParityHandlers = { 'hash_table/ckpt': checkpoint, 'hash_table/files': files };
