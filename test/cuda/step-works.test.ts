import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { ffmSchema } from '../../src/demo/ffm-example.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { Graph } from '../../src/graph/graph.js';
import { relu } from '../../src/graph/ops/activations.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { addBias } from '../../src/graph/ops/rows.js';
import { placeholder, variable } from '../../src/graph/ops/state.js';
import { createSharedMemory } from '../../src/memory/shared-memory.js';
import type { OpenBackend } from '../../src/runtime/backends/backend.js';
import { CUDA_KERNELS } from '../../src/runtime/backends/cuda/launch-table.js';
import { readProgram } from '../../src/runtime/backends/cuda/read-program.js';
import { planStep } from '../../src/runtime/backends/cuda/step-plan.js';
import type { StepWorks } from '../../src/runtime/backends/cuda/step-work.js';
import { stepWorks, type WorksOptions } from '../../src/runtime/backends/cuda/step-works.js';
import { writePlacement } from '../../src/runtime/backends/cuda/write-placement.js';
import { compileKernels } from '../../src/runtime/backends/wasm/load-kernels.js';
import { compile } from '../../src/runtime/compile/compiler.js';
import { loadLowerings } from '../../src/runtime/compile/late-lowerings.js';
import { KERNELS } from '../../src/runtime/kernels/kernels.js';
import type { Fetch } from '../../src/runtime/session/nested-fetches.js';
import { SessionCore } from '../../src/runtime/session/session-core.js';
import { coreOf } from '../../src/runtime/session/session-handle.js';
import type { SessionOptions } from '../../src/runtime/session/session-options.js';
import { schemaOf, withSession } from '../runtime/with-session.js';
import { withSimulated } from './simulated.js';

// A session does it before it compiles.
await loadLowerings();

const module = await compileKernels();

t.test('what the CUDA kernels take as const is not written, and the rest is', async (t) => {
  const dir = fileURLToPath(new URL('../../../cuda/kernels/', import.meta.url));
  let found = 0;
  for (const file of readdirSync(dir).filter((name) => name.endsWith('.cu'))) {
    for (const [, name, list] of readFileSync(`${dir}${file}`, 'utf8').matchAll(/^KERNEL (\w+)\(([^)]*)\)/gm)) {
      const kernel = KERNELS.get(name!);
      if (kernel === undefined) continue;
      found++;
      list!.split(',').forEach((parameter, index) => {
        const { access } = kernel.words[index]!;
        if (access === 'none' || access === 'hostScratch') return;
        t.equal(/\bconst\b/.test(parameter), /read|rows|records/.test(access), `${name}:${parameter}`);
      });
    }
  }
  t.ok(found > 40, `${found} kernels`);
});

/** A session of a GPU without the GPU and without threads: what programs are compiled for. */
function cpuCore(graph: Graph, options: Partial<SessionOptions> = {}): SessionCore {
  const backend: OpenBackend = {
    name: 'cuda',
    device: 'none',
    plainKernels: false,
    slice: () => ({ threads: 1, slices: 1 }),
    settle: (place) => ({
      told: null,
      skipsRepeats: false,
      describe: (program) => writePlacement(place, { address: 0, count: 0 }, [], program),
    }),
  };
  const session = { schema: schemaOf(graph), batchSize: 8, ...options };
  return new SessionCore({ graph, options: session, backend, memory: createSharedMemory(32 << 20), module });
}

function worksOf(core: SessionCore, fetches: readonly Fetch[], options: Partial<WorksOptions> = {}): StepWorks {
  const text = readProgram(core.views, compile(core, fetches).contexts('step', 0));
  return stepWorks(text, core.views, { has: (kernel) => CUDA_KERNELS.has(kernel), ...options });
}

const kernelsOn = ({ works }: StepWorks, wanted: 'host' | 'launch') =>
  [
    ...new Set(
      works.flatMap((work) => {
        if (work.kind !== wanted) return [];
        return work.kind === 'launch' ? [work.kernel] : [work.instruction.kernel.name];
      }),
    ),
  ].sort();

const one = { schema: ffmSchema(), batchSize: 32 };

t.test('of the demo model only ids and tables stay on the host', async (t) => {
  const { graph, loss, trainOp } = buildFfm();
  const core = cpuCore(graph, one);
  const works = worksOf(core, [loss, trainOp]);
  t.same(
    kernelsOn(works, 'host').filter((name) => !/^(unique|table|partition|advance|addCount|multiply)/.test(name)),
    [],
  );
  t.ok(kernelsOn(works, 'launch').includes('applyAdagradF32') || kernelsOn(works, 'launch').length > 5);
  t.ok(works.packs.length > 0, 'rows are packed');
  const { copies } = planStep(works.works);
  const kinds = copies.map(({ block, to }) => `${works.blocks[block]!.kind} to ${to}`);
  t.ok(kinds.includes('pack to device'));
  t.ok(kinds.includes('feed to device'));
  t.ok(kinds.includes('arena to host'), 'gradients of rows and the loss');
  t.ok(
    copies.filter(({ block }) => works.blocks[block]!.kind === 'pack').every(({ extent }) => extent !== undefined),
    'no more rows than there are',
  );
});

t.test(
  'of tables on the device neither rows nor their gradients are copied',
  withSimulated(async (t) => {
    const { graph, loss, trainOp } = buildFfm();
    const session = { ...one, backend: 'cuda', cuda: { driver: 'sim' }, useGpuEmbTable: true } as const;
    await withSession(graph, session, async (session) => {
      const works = worksOf(coreOf(session), [loss, trainOp]);
      t.same(works.packs, []);
      t.ok(works.lookups.length > 0);
      t.same(
        works.works.filter(({ kind }) => kind === 'find' || kind === 'apply').map(({ kind }) => kind),
        [...works.lookups.map(() => 'find'), ...works.lookups.map(() => 'apply')],
      );
      t.notOk(kernelsOn(works, 'host').some((name) => /^(table|partition|pool|gather)/.test(name)));
      const copied = new Map(planStep(works.works).copies.map(({ block, to }) => [block, to]));
      for (const { ids, gradients, found } of works.lookups) {
        t.equal(copied.get(ids.block), 'device');
        t.notOk(copied.has(gradients!.block) || copied.has(found));
      }
    });
  }),
);

t.test('gradients of rows are summed by sorted segments, and by atomics on a device that cannot', async (t) => {
  const { graph, loss, trainOp } = buildFfm();
  const core = cpuCore(graph, one);
  const sums = (works: StepWorks) => kernelsOn(works, 'launch').filter((name) => /^(segment|scatter)/.test(name));
  const works = worksOf(core, [loss, trainOp]);
  const names = sums(works);
  t.ok(names.length > 0 && names.every((name) => name.startsWith('segmentSum')), names.join());
  const lists = planStep(works.works).copies.filter(({ block }) => works.blocks[block]!.kind === 'sorted');
  t.equal(lists.length, works.sorts.length);
  t.ok(
    lists.every(({ to, extent }) => to === 'device' && extent !== undefined),
    'no more of them than there is',
  );
  const has = (kernel: string) => CUDA_KERNELS.has(kernel) && !kernel.startsWith('segmentSum');
  const atomic = worksOf(core, [loss, trainOp], { has });
  t.same(atomic.sorts, []);
  t.ok(sums(atomic).length > 0 && sums(atomic).every((name) => name.startsWith('scatter')));
});

t.test('without room for rows lookups run on the host', async (t) => {
  const { graph, loss, trainOp } = buildFfm();
  const core = cpuCore(graph, one);
  const works = worksOf(core, [loss, trainOp], { packsRows: false });
  t.same(works.packs, []);
  t.ok(kernelsOn(works, 'host').some((name) => /^(pool|gather)/.test(name)));
});

t.test('an op on a CPU runs on the host, and its values are brought there and back', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 3 });
  const w = variable(graph, { name: 'w', shape: [3, 4], initial: () => new Float32Array(12) });
  const b = variable(graph, { name: 'b', shape: [4], initial: () => new Float32Array(4) });
  const product = matMul(x, w);
  const hidden = graph.device('/device:CPU:0', () => relu(addBias(product, b)));
  const y = matMul(hidden, variable(graph, { name: 'v', shape: [4, 2], initial: () => new Float32Array(8) }));
  const core = cpuCore(graph);
  const works = worksOf(core, [y]);
  t.same(kernelsOn(works, 'host'), ['biasReluF32']);
  const { copies } = planStep(works.works);
  t.same(
    copies.filter(({ block }) => works.blocks[block]!.kind === 'arena').map(({ to }) => to),
    ['host', 'device', 'host'],
  );
});
