/**
 * @file A process that trains a table on ids made to meet, with each number of threads it is given, and prints a digest
 * of the files of each: the secret is another in every process.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { reduceMean, reduceSum } from '../../src/graph/ops/reductions.js';
import { raggedPlaceholder } from '../../src/graph/ops/state.js';
import { TableMemory } from '../../src/runtime/tables/table-memory.js';
import { AdagradOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { restoreTable } from '../../src/sparse/files/restore-table.js';
import { saveTable } from '../../src/sparse/files/save-table.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { raggedOf, withSession } from '../runtime/with-session.js';
import { idsOfOneBucket, idsWithoutGaps } from './colliding-keys.js';

const [BATCH, STEPS] = [512, 10];
const config = defineTable('flooded', [{ dim: 4, optimizer: AdagradOptimizer({ learningRate: 0.1 }) }]);
const made = [...idsOfOneBucket(3000), ...idsWithoutGaps(3000)];

/** Rows of ids that come again, of others beside them, and of some that anybody has. */
const rowsOf = (step: number) =>
  Array.from({ length: BATCH }, (_, i) => [
    made[(step * 600 + i) % made.length]!,
    made[(i * 7) % 900]!,
    BigInt(i % 50),
  ]);

async function save(table: HashTable, dir: string): Promise<string> {
  await saveTable(table, join(dir, 'table'));
  const digest = createHash('sha256');
  for (const name of (await readdir(dir)).sort()) {
    digest.update(name).update(await readFile(join(dir, name)));
  }
  return digest.digest('hex');
}

/** Digest of the files of a table that was trained, and of one that was restored from them. */
async function digests(threads: number): Promise<[string, string]> {
  const graph = new Graph();
  const lookup = embeddingLookup(raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 3 }), config);
  const loss = reduceMean(reduceSum(lookup, { axis: 'columns' }));
  const update = applyEmbeddingGradients([[gradients([loss], [lookup])[0] as Tensor, lookup]]);
  const dirs = await Promise.all([0, 1].map(() => mkdtemp(join(tmpdir(), 'flooded-'))));
  try {
    const trained = await withSession(graph, { batchSize: BATCH, threads, deterministic: true }, async (session) => {
      for (let step = 0; step < STEPS; step++) await session.run([...update], { ids: raggedOf(rowsOf(step)) });
      return save(HashTable.of(session, config), dirs[0]!);
    });
    const again = HashTable.create(await TableMemory.create({ budgetBytes: 16 << 20 }), config);
    await restoreTable(again, join(dirs[0]!, 'table'));
    return [trained, await save(again, dirs[1]!)];
  } finally {
    for (const dir of dirs) await rm(dir, { recursive: true });
  }
}

for (const threads of process.argv.slice(2)) console.log(...(await digests(Number(threads))));
