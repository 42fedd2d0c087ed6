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
import { CUDA_KERNELS } from '../../src/runtime/backends/cuda/launch-table.js';
import { readProgram } from '../../src/runtime/backends/cuda/read-program.js';
import { planStep } from '../../src/runtime/backends/cuda/step-plan.js';
import type { StepWorks } from '../../src/runtime/backends/cuda/step-work.js';
import { stepWorks, type WorksOptions } from '../../src/runtime/backends/cuda/step-works.js';
import { type CompileTarget, compile } from '../../src/runtime/compile/compiler.js';
import { KERNELS } from '../../src/runtime/kernels/kernels.js';
import type { Fetch, Session } from '../../src/runtime/session/session.js';
import { withSession } from '../runtime/with-session.js';
import { withSimulated } from './simulated.js';

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

/** The works of a program as a session with a GPU would have them. */
function worksOf(session: Session, fetches: readonly Fetch[], options: Partial<WorksOptions> = {}): StepWorks {
  const target: CompileTarget = {
    ...session,
    traceNames: session.traceNames,
    traceRings: [0],
    variable: (tensor) => session.variable(tensor),
    resource: (key, make) => session.resource(key, make),
    onStep: () => {},
    skipsRepeats: false,
    residents: { address: 0, count: 0 },
  };
  const { contexts } = compile(target, fetches);
  const text = readProgram(session.views, contexts);
  return stepWorks(text, session.views, { has: (kernel) => CUDA_KERNELS.has(kernel), ...options });
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

const one = { threads: 1, schema: ffmSchema(), batchSize: 32 };

t.test('of the demo model only ids and tables stay on the host', async (t) => {
  const { graph, loss, trainOp } = buildFfm();
  await withSession(graph, one, async (session) => {
    const works = worksOf(session, [loss, trainOp]);
    t.same(
      kernelsOn(works, 'host').filter((name) => !/^(unique|table|partition|advance|addCount|multiply)/.test(name)),
      [],
    );
    t.ok(kernelsOn(works, 'launch').includes('applyAdagradF32') || kernelsOn(works, 'launch').length > 5);
    t.ok(works.stages.length > 0, 'rows are staged');
    const { copies } = planStep(works.works);
    const kinds = copies.map(({ block, to }) => `${works.blocks[block]!.kind} to ${to}`);
    t.ok(kinds.includes('stage to device'));
    t.ok(kinds.includes('feed to device'));
    t.ok(kinds.includes('arena to host'), 'gradients of rows and the loss');
    t.ok(
      copies.filter(({ block }) => works.blocks[block]!.kind === 'stage').every(({ extent }) => extent !== undefined),
      'no more rows than there are',
    );
  });
});

t.test(
  'of tables on the device neither rows nor their gradients are copied',
  withSimulated(async (t) => {
    const { graph, loss, trainOp } = buildFfm();
    const session = { ...one, backend: 'cuda', cuda: { driver: 'sim' }, useGpuEmbTable: true } as const;
    await withSession(graph, session, async (session) => {
      const works = worksOf(session, [loss, trainOp]);
      t.same(works.stages, []);
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
  await withSession(graph, one, async (session) => {
    const sums = (works: StepWorks) => kernelsOn(works, 'launch').filter((name) => /^(segment|scatter)/.test(name));
    const works = worksOf(session, [loss, trainOp]);
    const names = sums(works);
    t.ok(names.length > 0 && names.every((name) => name.startsWith('segmentSum')), names.join());
    const lists = planStep(works.works).copies.filter(({ block }) => works.blocks[block]!.kind === 'sorted');
    t.equal(lists.length, works.sorts.length);
    t.ok(
      lists.every(({ to, extent }) => to === 'device' && extent !== undefined),
      'no more of them than there is',
    );
    const has = (kernel: string) => CUDA_KERNELS.has(kernel) && !kernel.startsWith('segmentSum');
    const atomic = worksOf(session, [loss, trainOp], { has });
    t.same(atomic.sorts, []);
    t.ok(sums(atomic).length > 0 && sums(atomic).every((name) => name.startsWith('scatter')));
  });
});

t.test('without room for rows lookups run on the host', async (t) => {
  const { graph, loss, trainOp } = buildFfm();
  await withSession(graph, one, async (session) => {
    const works = worksOf(session, [loss, trainOp], { stagesRows: false });
    t.same(works.stages, []);
    t.ok(kernelsOn(works, 'host').some((name) => /^(pool|gather)/.test(name)));
  });
});

t.test('an op on a CPU runs on the host, and its values are brought there and back', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 3 });
  const w = variable(graph, { name: 'w', shape: [3, 4], initial: () => new Float32Array(12) });
  const b = variable(graph, { name: 'b', shape: [4], initial: () => new Float32Array(4) });
  const product = matMul(x, w);
  const hidden = graph.device('/device:CPU:0', () => relu(addBias(product, b)));
  const y = matMul(hidden, variable(graph, { name: 'v', shape: [4, 2], initial: () => new Float32Array(8) }));
  await withSession(graph, { threads: 1 }, async (session) => {
    const works = worksOf(session, [y]);
    t.same(kernelsOn(works, 'host'), ['biasReluF32']);
    const { copies } = planStep(works.works);
    t.same(
      copies.filter(({ block }) => works.blocks[block]!.kind === 'arena').map(({ to }) => to),
      ['host', 'device', 'host'],
    );
  });
});
