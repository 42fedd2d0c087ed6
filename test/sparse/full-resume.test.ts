import t, { type Test as T } from 'tap';
import { loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { restoreSession } from '../../src/checkpoint/restore-session.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { snapshotSession } from '../../src/checkpoint/session-snapshot.js';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { addN } from '../../src/graph/ops/elementwise.js';
import { reduceMean, reduceSum } from '../../src/graph/ops/reductions.js';
import { globalStep, group, increment, raggedPlaceholder } from '../../src/graph/ops/state.js';
import type { Session, SessionOptions } from '../../src/runtime/session/session.js';
import { AdagradOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { contentOf, treeOf } from '../checkpoint/helpers.js';
import { raggedOf, withSession } from '../runtime/with-session.js';

const MIB = 1 << 20;
const BATCH = 512;

/** Tables of these dimensions, whose ids come at different speeds. */
class FullModel {
  readonly graph = new Graph();
  readonly tables;
  readonly #train;

  constructor(dims: readonly number[]) {
    this.tables = dims.map((dim, i) =>
      defineTable(`t${i}`, [{ dim, optimizer: AdagradOptimizer({ learningRate: 0.1 }) }]),
    );
    const lookups = this.tables.map((table) =>
      embeddingLookup(raggedPlaceholder(this.graph, { name: table.name, valuesPerRow: 1 }), table),
    );
    const loss = reduceMean(addN(lookups.map((lookup) => reduceSum(lookup, { axis: 'columns' }))));
    const grads = gradients([loss], lookups) as Tensor[];
    const updates = applyEmbeddingGradients(grads.map((grad, i) => [grad, lookups[i]!] as const));
    this.#train = group(this.graph, [...updates, increment(globalStep(this.graph))]);
  }

  async steps(session: Session, from: number, to: number): Promise<void> {
    for (let step = from; step < to; step++) {
      const feeds = this.tables.map(({ name }, i) => {
        const first = step * (200 + 100 * i);
        return [name, raggedOf(Array.from({ length: BATCH }, (_, k) => [BigInt(first + k) * 7919n]))] as const;
      });
      await session.run([this.#train], Object.fromEntries(feeds));
    }
  }

  isFull(session: Session): boolean {
    return this.tables.every((config) => HashTable.of(session, config).passedOver > 0);
  }
}

interface Size {
  readonly tableBytes: number;
  readonly dims: readonly number[];
  readonly steps: number;
}

const SIZES: readonly Size[] = [
  { tableBytes: MIB, dims: [4, 16], steps: 40 },
  { tableBytes: 3_000_000, dims: [5, 1], steps: 170 },
  { tableBytes: 2 * MIB, dims: [64, 3], steps: 60 },
  { tableBytes: MIB, dims: [16, 4, 8], steps: 40 },
  { tableBytes: 2_500_000, dims: [1, 33, 7], steps: 60 },
  { tableBytes: 4 * MIB, dims: [12, 12, 12], steps: 110 },
];

const optionsOf = ({ tableBytes }: Size): Partial<SessionOptions> => ({
  batchSize: BATCH,
  deterministic: true,
  memoryBytes: 64 * MIB,
  tablePolicy: { whenFull: 'stop-admitting' },
  tableBytes,
});

const save = async (session: Session, dir: string) =>
  (await saveCheckpoint(dir, snapshotSession(session, 'full'))).path;

/** Trains with a save at step `saveAt`, once to the end and once from that save on; gives the path of the save. */
async function resumes(t: T, size: Size, saveAt: number, more: Partial<SessionOptions> = {}): Promise<string> {
  const dir = t.testdir();
  const model = new FullModel(size.dims);
  const options = { ...optionsOf(size), ...more };
  const path = await withSession(model.graph, { ...options, threads: 2 }, async (session) => {
    await model.steps(session, 0, saveAt);
    if (saveAt > size.steps / 2) t.ok(model.isFull(session), 'all are full when they are saved');
    const saved = await save(session, `${dir}/first`);
    await model.steps(session, saveAt, size.steps);
    t.ok(model.isFull(session), 'all are full in the end');
    await save(session, `${dir}/whole`);
    return saved;
  });
  await withSession(model.graph, { ...options, threads: 1 }, async (session) => {
    await restoreSession(session, await loadCheckpoint(path));
    await model.steps(session, saveAt, size.steps);
    await save(session, `${dir}/parts`);
  });
  t.same(treeOf(`${dir}/parts`), treeOf(`${dir}/whole`));
  return path;
}

for (const size of SIZES) {
  t.test(
    `${size.dims.length} tables that filled ${size.tableBytes} bytes together go on as if never stopped`,
    async (t) => {
      await resumes(t, size, Math.floor(size.steps * 0.7));
    },
  );
}

t.test('tables that fill their memory after they were resumed hold what they would have', async (t) => {
  await resumes(t, SIZES[5]!, 20);
});

t.test('the same in several memories', async (t) => {
  await resumes(t, SIZES[5]!, 80, { tableBytes: 6 * MIB, bankBytes: 2 * MIB + 65536 });
});

t.test('a resume with a larger memory works, and one with a smaller memory says what to do', async (t) => {
  const size = SIZES[2]!;
  const loaded = await loadCheckpoint(await resumes(t, size, 50));
  const restore = (tableBytes: number) =>
    withSession(new FullModel(size.dims).graph, { ...optionsOf({ ...size, tableBytes }), threads: 1 }, (session) =>
      restoreSession(session, loaded),
    );
  await restore(3 * MIB);
  await t.rejects(restore(MIB), { code: 'ML_MEMORY', hint: /more memory/ });
});

t.test('a checkpoint does not tell of memory that more than ids and their order has cut', async (t) => {
  const model = new FullModel([4, 16]);
  const dir = t.testdir();
  await withSession(model.graph, { ...optionsOf(SIZES[0]!), threads: 1 }, async (session) => {
    await model.steps(session, 0, 3);
    const first = await loadCheckpoint(await save(session, `${dir}/a`));
    t.equal(first.space?.tables.length, 2);
    t.same(contentOf(await loadCheckpoint((await saveCheckpoint(`${dir}/copy`, first)).path)), contentOf(first));
    t.same(treeOf(`${dir}/copy`), treeOf(`${dir}/a`), 'saved again as it was loaded');
    const table = HashTable.of(session, model.tables[0]!);
    t.equal(table.remove(BigInt64Array.of(-1n)), 0);
    t.ok((await loadCheckpoint(await save(session, `${dir}/b`))).space, 'nothing was removed');
    t.equal(table.remove(BigInt64Array.of(7919n)), 1);
    t.equal((await loadCheckpoint(await save(session, `${dir}/c`))).space, undefined);
    const before = contentOf(snapshotSession(session, 'full'));
    await t.rejects(restoreSession(session, first), { code: 'ML_MEMORY', hint: /inPlace/ });
    t.same(
      contentOf(snapshotSession(session, 'full')),
      before,
      'old and new rows do not fit together: nothing changed',
    );
    await restoreSession(session, first, { inPlace: true });
    t.equal((await loadCheckpoint(await save(session, `${dir}/d`))).space, undefined, 'the memory was in use');
    t.equal(table.size, first.tables[0]!.rowCount);
  });
});
