/** @file Every op in a model to export, asked for a few examples: what sessions say, for others to be held to. */
import { MISSING_ID } from '../../../src/data/cells.js';
import { TF_EXAMPLE, type TfFeature } from '../../../src/io/tf-example.js';
import { modelJson } from '../../../src/portable/model-json.js';
import { type ExportableModel, trainedTables } from '../../../src/serve/trained-model.js';
import { HashTable } from '../../../src/sparse/table/hash-table.js';
import { everyOp, features, schema } from '../../portable/every-op.js';
import { openSession } from '../../runtime/with-session.js';

const FIRSTS = [0, 1, 4, 4, 5, 9];
const IDS = [1n, 2n, 3n, 1n, 9n, 4n, 4n, 2n, -7n];
/** Examples asked for. */
export const BATCH = 5;
export const X_WIDTH = 8;

export const feeds = {
  x: Float32Array.from({ length: BATCH * X_WIDTH }, (_, at) => Math.cos(at * 1.7) * 2),
  ids: { splits: Int32Array.from(FIRSTS), values: BigInt64Array.from(IDS) },
  time: BigInt64Array.from([0n, 5n, -7n, 2n ** 40n, MISSING_ID]),
};

/** Ids of an example. */
export const idsOf = (row: number): bigint[] => IDS.slice(FIRSTS[row], FIRSTS[row + 1]);

/** The examples as records of tensorflow.Example. */
export function records(): Uint8Array[] {
  return Array.from({ length: BATCH }, (_, row) => {
    const feature = new Map<string, TfFeature>([
      ['x', { floatList: { value: feeds.x.slice(row * X_WIDTH, (row + 1) * X_WIDTH) } }],
      ['ids', { int64List: { value: BigInt64Array.from(idsOf(row)) } }],
      ['time', { int64List: { value: feeds.time.slice(row, row + 1) } }],
    ]);
    return TF_EXAMPLE.encode({ features: { feature } });
  });
}

/** The model, its heads by name, and what a session computes of each. */
export async function everyOpModel(): Promise<{
  readonly model: ExportableModel;
  readonly expected: ReadonlyMap<string, Float32Array>;
}> {
  const { graph, outputs } = everyOp();
  const heads = Object.entries(outputs).map(([name, pred]) => ({ name: `head_${name}`, kind: 'own' as const, pred }));
  const written = modelJson({ name: 'every', pred: heads[0]!.pred, heads }, features);
  const session = await openSession(graph, { schema: schema.specs, batchSize: 8, threads: 1 });
  try {
    const table = HashTable.of(session, graph.getCollection('tables')[0]!);
    const rows = Float32Array.from({ length: 6 * 6 }, (_, at) => Math.sin(at) * 1.5);
    // One is the id that stands for none where ids are padded.
    table.assign(BigInt64Array.from([1n, 2n, 3n, 4n, -1n, 10n ** 17n]), rows);
    const found = (await session.run(Object.values(outputs), feeds, { mode: 'predict' })) as Float32Array[];
    const constants = new Map(written.constants.map((op) => [op.name, op.attrs.values]));
    const arrays = new Map(
      written.variables.map(({ name }) => [name, Float32Array.from(session.readVariable(name) as Float32Array)]),
    );
    const tables = trainedTables(session, written).map((one) => {
      const [all, shown] = [[...one.rows()], [...one.shownRows()]];
      return { ...one, rows: () => all, shownRows: () => shown };
    });
    const array = (name: string) => constants.get(name) ?? arrays.get(name)!;
    const expected = new Map(heads.map(({ name }, index) => [name, Float32Array.from(found[index]!)]));
    return { model: { written, step: 7, tables, array }, expected };
  } finally {
    await session.close();
  }
}

/** The largest difference, of values above 1 relative to them. */
export function worstOf(found: ArrayLike<number>, expected: Float32Array): number {
  if (found.length !== expected.length) return Number.POSITIVE_INFINITY;
  return expected.reduce((most, value, at) => {
    const difference = Math.abs(found[at]! - value) / Math.max(1, Math.abs(value));
    return Math.max(most, Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference);
  }, 0);
}
