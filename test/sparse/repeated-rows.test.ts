import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Op, type Tensor } from '../../src/graph/graph.js';
import { relu } from '../../src/graph/ops/activations.js';
import { columns, concatColumns } from '../../src/graph/ops/columns.js';
import { addN, mul, scale } from '../../src/graph/ops/elementwise.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { rowDot } from '../../src/graph/ops/rows.js';
import { group, idsPlaceholder, placeholder, variable } from '../../src/graph/ops/state.js';
import { applyGradients } from '../../src/optim/apply-gradients.js';
import { RandomUniformInitializer } from '../../src/sparse/config/initializers.js';
import { AdagradOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { kernelsOf } from '../runtime/stages-of.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';

const [DIM, FIELDS, OUTPUTS, BATCH] = [8, 3, 20, 24] as const;

interface Form {
  /** The matrix is a computed one, in which nothing is known to repeat. */
  readonly computed?: boolean;
  /** The weights, or the embeddings, are not trained. */
  readonly frozen?: 'weights' | 'embeddings';
  /** Somebody looks at the gradient of the matrix, or at its square. */
  readonly looks?: 'fetch' | 'square';
  /** Two products share the matrix; those that are added share their gradient too. */
  readonly twice?: 'apart' | 'added';
}

/** Lookups of one table, beside dense floats, through one layer; a term of its own for every lookup. */
function build({ computed, frozen, looks, twice }: Form) {
  const graph = new Graph();
  const ids = idsPlaceholder(graph, { name: 'ids', width: FIELDS });
  const dense = placeholder(graph, { name: 'dense', width: 3 });
  const optimizer = AdagradOptimizer({ learningRate: 0.1, initialAccumulatorValue: 0.1 });
  const table = defineTable('t', [{ dim: DIM, initializer: RandomUniformInitializer(-0.5, 0.5), optimizer }]);
  const lookups = Array.from({ length: FIELDS }, (_, f) => embeddingLookup(columns(ids, f, f + 1), table));
  const vectors = concatColumns(lookups);
  // The dense floats lie between the lookups.
  const parts = [lookups[0]!, dense, lookups[1]!, lookups[2]!];
  const x = computed ? scale(concatColumns(parts), 1) : concatColumns(parts);
  const layer = (name: string, outputs: number) =>
    variable(graph, {
      name,
      shape: [x.columns, outputs],
      initial: () => Float32Array.from({ length: x.columns * outputs }, (_, i) => Math.sin(i * 1.7 + name.length) / 4),
    });
  const other = { apart: OUTPUTS + 13, added: OUTPUTS };
  const weights = [layer('w', OUTPUTS), ...(twice ? [layer('other', other[twice])] : [])];
  const products = weights.map((w) => matMul(x, w));
  const hidden = (twice === 'added' ? [addN(products)] : products).map((product) => relu(product));
  const logit = addN([...hidden.map((h) => rowDot(h, h)), rowDot(vectors, vectors)]);
  const loss = reduceMean(logit);
  const [ofX, ...grads] = gradients([loss], [x, ...lookups, ...weights]) as Tensor[];
  const byLookup = lookups.map((lookup, i) => [grads[i]!, lookup] as const);
  const byWeights = weights.map((w, i) => [grads[FIELDS + i]!, w] as const);
  const updates = [
    ...(frozen === 'embeddings' ? [] : applyEmbeddingGradients(byLookup)),
    ...(frozen === 'weights' ? [] : applyGradients(byWeights, optimizer)),
  ];
  const looked = { fetch: ofX!, square: reduceMean(rowDot(mul(ofX!, ofX!), ofX!)) };
  const trainOp = group(graph, updates) as Op;
  return { graph, table, logit, fetches: [logit, loss, trainOp, ...(looks ? [looked[looks]] : [])] };
}

/** Everything that was fetched over some steps, and the rows and weights at the end. */
async function train(backend: (typeof BACKENDS)[number], form: Form, idsOfField: number) {
  const { graph, table, logit, fetches } = build(form);
  return withSession(graph, { backend, batchSize: BATCH, seed: 3 }, async (session) => {
    const seen: number[][] = [];
    for (const [step, rows] of [BATCH, 1, BATCH, 7].entries()) {
      const ids = BigInt64Array.from({ length: rows * FIELDS }, (_, i) =>
        BigInt((Math.imul(i + step, 7919) >>> 3) % idsOfField),
      );
      const dense = Float32Array.from({ length: rows * 3 }, (_, i) => Math.cos(i));
      for (const value of await session.run(fetches, { ids, dense })) {
        if (value instanceof Float32Array) seen.push([...value]);
        else if (typeof value === 'number') seen.push([value]);
      }
    }
    const rows = [...HashTable.of(session, table).rows()].sort((a, b) => Number(a.id - b.id));
    const names = form.twice ? ['w', 'other'] : ['w'];
    const trained = names.map((name) => [...(session.readVariable(name) as Float32Array)]);
    seen.push(...rows.map(({ weights }) => [...weights]), ...trained);
    return { seen, kernels: kernelsOf(session, fetches), forward: kernelsOf(session, [logit]) };
  });
}

const isNear = (a: readonly number[][], b: readonly number[][]) =>
  a.length === b.length &&
  a.every((list, i) => list.every((value, j) => Math.abs(value - b[i]![j]!) <= 2e-5 * (1 + Math.abs(value))));
const repeats = (kernels: readonly string[]) => kernels.filter((name) => name.startsWith('gemmRepeats'));

for (const backend of BACKENDS) {
  const forms: [string, Form, string[]][] = [
    ['as a whole', {}, ['gemmRepeatsF32', 'gemmRepeatsGradF32']],
    ['with weights that stay', { frozen: 'weights' }, ['gemmRepeatsF32']],
    ['with embeddings that stay', { frozen: 'embeddings' }, ['gemmRepeatsF32', 'gemmRepeatsGradF32']],
    ['with a gradient that is fetched', { looks: 'fetch' }, ['gemmRepeatsF32', 'gemmRepeatsGradF32']],
    ['with a gradient that is used by itself', { looks: 'square' }, ['gemmRepeatsF32', 'gemmRepeatsGradF32']],
    [
      'with two products of one matrix',
      { twice: 'apart' },
      ['gemmRepeatsF32', 'gemmRepeatsF32', 'gemmRepeatsGradF32', 'gemmRepeatsGradF32'],
    ],
    [
      'with two products of one matrix and embeddings that stay',
      { twice: 'apart', frozen: 'embeddings' },
      ['gemmRepeatsF32', 'gemmRepeatsF32', 'gemmRepeatsGradF32', 'gemmRepeatsGradF32'],
    ],
    [
      'with two products of one matrix that are added',
      { twice: 'added' },
      ['gemmRepeatsF32', 'gemmRepeatsF32', 'gemmRepeatsGradF32', 'gemmRepeatsGradF32'],
    ],
    [
      'with two products that are added and embeddings that stay',
      { twice: 'added', frozen: 'embeddings' },
      ['gemmRepeatsF32', 'gemmRepeatsF32', 'gemmRepeatsGradF32', 'gemmRepeatsGradF32'],
    ],
  ];
  for (const [what, form, expected] of backend === 'reference' ? forms.slice(0, 1) : forms) {
    t.test(`rows that repeat are multiplied once, and train as others do: ${what} (${backend})`, async (t) => {
      // With few ids rows repeat; with many they do not, and the kernels see it.
      for (const ids of [3, 1000]) {
        const [once, all] = [await train(backend, form, ids), await train(backend, { ...form, computed: true }, ids)];
        t.same(repeats(once.kernels).sort(), expected);
        t.same(repeats(all.kernels), []);
        t.ok(isNear(once.seen, all.seen), `${ids} ids`);
      }
    });
  }
}

t.test('a matrix of repeated rows is the same on any number of threads, if asked', async (t) => {
  const { graph, fetches } = build({});
  const runs = [];
  for (const threads of [1, 2, 3]) {
    runs.push(
      await withSession(graph, { threads, deterministic: true, batchSize: BATCH }, async (session) => {
        const ids = BigInt64Array.from({ length: BATCH * FIELDS }, (_, i) => BigInt(i % 4));
        const dense = new Float32Array(BATCH * 3).fill(0.5);
        await session.run(fetches, { ids, dense });
        await session.run(fetches, { ids, dense });
        return [...(session.readVariable('w') as Float32Array)];
      }),
    );
  }
  t.same(runs[1], runs[0]);
  t.same(runs[2], runs[0]);
});
