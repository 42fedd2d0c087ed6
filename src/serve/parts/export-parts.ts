/**
 * @file A model in parts, as servers of a cluster load it: the entry has the program, each `ps_<i>` the rows of its
 * ids, and `dense_0` the variables, where they are computed elsewhere (the distributed layout of model_export).
 */
import { join } from 'node:path';
import { writeFileAtomic } from '../../base/files/atomic-file.js';
import { sharedName } from '../../sparse/config/shared-name.js';
import type { BesideModel, PartsLayout } from '../../train/exporter.js';
import { DENSE, ENTRY, serverPart } from '../../train/part-folders.js';
import { writeBeside } from '../beside-model.js';
import { exportNative } from '../native/export-native.js';
import type { ExportableModel, TrainedRow, TrainedTable } from '../trained-model.js';
import { PART_FILE, type PartManifest, type PartSignature, type PartTensor, partText } from './part-manifest.js';

export interface Part {
  readonly name: string;
  write(folder: string): Promise<void>;
}

/** The parts of a model, the entry last: whoever finds it finds all. */
export function partsOf(model: ExportableModel, layout: PartsLayout, beside: BesideModel = {}): Part[] {
  const { servers, denseOnly = false, remoteDense = false } = layout;
  const common = { servers, denseOnly, remoteDense, globalStep: model.step };
  const part = (name: string, held: Held, signatures: PartManifest['signatures']): Part => ({
    name,
    write: async (folder) => {
      await exportNative(holding(model, held), folder);
      if (name === ENTRY) await writeBeside(folder, beside);
      await writeFileAtomic(join(folder, PART_FILE), partText({ ...common, part: name, signatures }));
    },
  });
  const shards = Array.from({ length: denseOnly ? 0 : servers }, (_, server) => {
    const tables = model.tables.map((table) => shardOf(table, server, servers));
    return part(serverPart(server), { tables, dense: false }, serverSignatures(model.tables, server));
  });
  const called = { gpu_remote_call: { inputs: rowInputs(model.tables), outputs: outputsOf(model) } };
  return [
    ...shards,
    ...(remoteDense ? [part(DENSE, { tables: [], dense: true }, called)] : []),
    part(
      ENTRY,
      { tables: [], dense: !remoteDense },
      { serving_default: { inputs: INSTANCES, outputs: outputsOf(model) } },
    ),
  ];
}

const INSTANCES = { instances: { dtype: 'string', shape: [-1] } } as const;

interface Held {
  readonly tables: readonly TrainedTable[];
  readonly dense: boolean;
}

/** The program of the model with some of its values. */
function holding(model: ExportableModel, { tables, dense }: Held): ExportableModel {
  const written = dense ? model.written : { ...model.written, variables: [], constants: [] };
  return { written, step: model.step, tables, array: (name) => model.array(name) };
}

/** The rows of a table that are of one server: those whose floorMod by the number of servers it is. */
function shardOf(table: TrainedTable, server: number, servers: number): TrainedTable {
  if (servers === 1) return table;
  const [of, count] = [BigInt(servers), BigInt(server)];
  const isOurs = (id: bigint) => ((id % of) + of) % of === count;
  let rows = 0;
  for (const { id } of table.rows()) if (isOurs(id)) rows++;
  return {
    ...table,
    count: rows,
    rows: () => some(table.rows(), isOurs),
    shownRows: () => some(table.shownRows(), isOurs),
  };
}

function* some(rows: Iterable<TrainedRow>, isOurs: (id: bigint) => boolean): Generator<TrainedRow> {
  for (const row of rows) if (isOurs(row.id)) yield row;
}

const floats = (...shape: number[]): PartTensor => ({ dtype: 'float32', shape });
const ids = (): PartTensor => ({ dtype: 'int64', shape: [-1] });
const dimOf = ({ segments }: TrainedTable): number => segments.reduce((sum, { dim }) => sum + dim, 0);

function rowInputs(tables: readonly TrainedTable[]): Record<string, PartTensor> {
  return Object.fromEntries(tables.map((table) => [table.name, floats(-1, dimOf(table))]));
}

function outputsOf({ written }: ExportableModel): Record<string, PartTensor> {
  const { heads } = written.json;
  return Object.fromEntries(heads.map(({ name }) => [heads.length === 1 ? 'output' : name, floats(-1)]));
}

/** What a server of rows answers, by the names of the reference. */
function serverSignatures(tables: readonly TrainedTable[], server: number): Record<string, PartSignature> {
  const each = <T>(suffix: string, of: (table: TrainedTable) => T) =>
    Object.fromEntries(tables.map((table) => [`${table.name}_${suffix}`, of(table)]));
  const assign = {
    inputs: { ...each('id', ids), ...each('value', (table) => floats(-1, dimOf(table))) },
    outputs: each('result', ids),
  };
  const raw = { id: ids(), id_split: ids() };
  const flat = { flat_emb: floats(-1) };
  return {
    lookup: { inputs: each('id', ids), outputs: rowInputs(tables) },
    raw_lookup: { inputs: raw, outputs: flat },
    hashtable_assign: assign,
    [`${sharedName('multiHashTable', `${server}`)}/raw_assign`]: {
      inputs: { ...raw, flat_value: floats(-1) },
      outputs: { result: ids() },
    },
  };
}
