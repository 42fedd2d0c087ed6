import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { addN } from '../../src/graph/ops/elementwise.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { rowDot } from '../../src/graph/ops/rows.js';
import { raggedPlaceholder } from '../../src/graph/ops/state.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { coreOf } from '../../src/runtime/session/session-handle.js';
import {
  AdagradOptimizer,
  AdamOptimizer,
  FixedR8Compressor,
  FtrlOptimizer,
} from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { stream } from '../kernels/both.js';
import { BACKENDS, raggedOf, withSession } from '../runtime/with-session.js';

const [BATCH, STEPS] = [23, 25];
const APART = { memoryBytes: 16 << 20, tableBytes: 12 << 20, bankBytes: (4 << 20) + 65536 };

/** Two tables, one of them shared by two features and quantized, whose rows are pulled together. */
function model() {
  const graph = new Graph();
  const users = defineTable('users', [
    { dim: 2, optimizer: AdagradOptimizer({ learningRate: 0.1 }) },
    { dim: 3, optimizer: FtrlOptimizer({ learningRate: 0.1 }) },
  ]);
  const items = defineTable('items', [
    { dim: 5, optimizer: AdamOptimizer({ learningRate: 0.05 }), compressor: FixedR8Compressor() },
  ]);
  const [user, item, seen] = ['user', 'item', 'seen'].map((name) =>
    raggedPlaceholder(graph, { name, valuesPerRow: 4 }),
  ) as [Tensor, Tensor, Tensor];
  const lookups = [embeddingLookup(user, users), embeddingLookup(item, items), embeddingLookup(seen, items)] as const;
  const loss = reduceMean(addN([rowDot(lookups[0], lookups[1]), rowDot(lookups[1], lookups[2])]));
  const grads = gradients([loss], lookups) as Tensor[];
  const updates = applyEmbeddingGradients(grads.map((grad, index) => [grad, lookups[index]!] as const));
  return { graph, loss, updates, tables: [users, items] };
}

function feeds(step: number) {
  const next = stream(step + 1);
  const rows = step === 3 ? 2 : BATCH - (step % 4);
  const list = () =>
    raggedOf(
      Array.from({ length: rows }, () =>
        Array.from({ length: Math.floor(next() * 5) }, () => BigInt(Math.floor(next() * 300) ** 3) - 1000n),
      ),
    );
  return { user: list(), item: list(), seen: list() };
}

async function trained(options: Partial<SessionOptions>) {
  const { graph, loss, updates, tables } = model();
  return withSession(graph, { batchSize: BATCH, ...options }, async (session) => {
    const losses: unknown[] = [];
    for (let step = 0; step < STEPS; step++) losses.push((await session.run([loss, ...updates], feeds(step)))[0]);
    const rows = tables.map((config) =>
      [...HashTable.of(session, config).rows()].map(({ id, weights, state }) => [id, [...weights], [...state]]),
    );
    return { losses, rows, banks: coreOf(session).tables.banks.length };
  });
}

for (const backend of BACKENDS) {
  for (const options of [{ threads: 1 }, { threads: 2 }, { threads: 2, deterministic: true }]) {
    const title = `${backend}, ${JSON.stringify(options)}`;
    t.test(`a table spread over memories trains to the same bytes as one in the session's (${title})`, async (t) => {
      const near = await trained({ ...options, backend });
      const apart = await trained({ ...options, backend, ...APART });
      t.equal(near.banks, 1);
      t.equal(apart.banks, 3);
      t.ok(near.rows.every((rows) => rows.length > 100));
      t.same(apart.losses, near.losses);
      t.same(apart.rows, near.rows);
    });
  }
}

t.test('a budget that is too small to start is refused', async (t) => {
  const { graph } = model();
  await t.rejects(
    withSession(graph, { tableBytes: 1000 }, async () => {}),
    { code: 'ML_MEMORY', message: /tables/ },
  );
});
