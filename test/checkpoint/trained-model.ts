import type { Test } from 'tap';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { snapshotSession } from '../../src/checkpoint/session-snapshot.js';
import { Graph } from '../../src/graph/graph.js';
import { globalStep, raggedPlaceholder, variable } from '../../src/graph/ops/state.js';
import { Session } from '../../src/runtime/session/session.js';
import { AdagradOptimizer, type SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable, type TableDefinition } from '../../src/sparse/config/table-config.js';
import { embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { contentOf } from './helpers.js';

export interface ShapeOfModel {
  readonly dense?: Readonly<Record<string, readonly number[]>>;
  readonly tables?: Readonly<Record<string, number>>;
  readonly definition?: TableDefinition;
  readonly optimizer?: ReturnType<typeof SgdOptimizer>;
  readonly counts?: boolean;
}

/** Variables of these shapes, all ones at first, and tables of these dimensions. */
export async function open(t: Test, shape: ShapeOfModel) {
  const graph = new Graph();
  for (const [name, dims] of Object.entries(shape.dense ?? {})) {
    const count = dims.reduce((product, size) => product * size, 1);
    variable(graph, { name, shape: [...dims], initial: () => new Float32Array(count).fill(1) });
  }
  if (shape.counts !== false) globalStep(graph);
  const { optimizer = AdagradOptimizer() } = shape;
  const configs = Object.entries(shape.tables ?? {}).map(([name, dim]) => {
    const config = defineTable(name, [{ dim, optimizer }], shape.definition);
    embeddingLookup(raggedPlaceholder(graph, { name: `ids_${name}`, valuesPerRow: 1 }), config);
    return config;
  });
  const schema = configs.map(({ name }) => ({ name: `ids_${name}`, kind: 'ragged' }) as const);
  const session = await Session.create(graph, { schema, batchSize: 1, threads: 1, memoryBytes: 2 ** 26 });
  t.teardown(() => session.close());
  const tables = Object.fromEntries(configs.map((config) => [config.name, HashTable.of(session, config)]));
  return { session, tables, contents: () => contentOf(snapshotSession(session, 'm')) };
}

/** A trained model: kernel, its slot, step 9, tables users and items with one row each. */
export async function trained(t: Test) {
  const model = await open(t, { dense: { kernel: [2, 3], 'kernel/m': [2, 3] }, tables: { users: 2, items: 1 } });
  model.session.writeVariable('kernel', Float32Array.of(1, 2, 3, 4, 5, 6));
  model.session.writeVariable('kernel/m', Float32Array.of(6, 5, 4, 3, 2, 1));
  model.session.writeVariable('global_step', BigInt64Array.of(9n));
  model.tables.users!.assign([7n], Float32Array.of(1, 2));
  model.tables.items!.assign([8n], Float32Array.of(3));
  return model;
}

export const lookup = (table: HashTable | undefined, id: bigint): number[] => {
  const out = new Float32Array(table!.dim);
  table!.lookup([id], out);
  return [...out];
};

export async function saved(t: Test, dir = t.testdir()): Promise<string> {
  const { session } = await trained(t);
  return (await saveCheckpoint(dir, snapshotSession(session, 'm'))).path;
}
