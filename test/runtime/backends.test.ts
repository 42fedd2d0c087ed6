import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { Graph } from '../../src/graph/graph.js';
import { Session } from '../../src/runtime/session/session.js';
import { runNode } from '../run-node.js';
import { sourcesIn } from '../support/import-graph.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

t.test('only the CUDA backend, and the list of backends, speak of a GPU', async (t) => {
  const allowed = (file: string) =>
    file.startsWith('src/runtime/backends/cuda/') ||
    ['src/runtime/pool/load-backend.ts', 'src/runtime/pool/check-backend-options.ts'].includes(file);
  const spoken = sourcesIn('src/runtime')
    .filter((file) => !allowed(file))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      // Every backend names the device it runs on.
      return [...text.matchAll(/cuda|gpu|\bdevice(?!\b)|resident|\bdriver/gi)].map(([word]) => `${file}: ${word}`);
    });
  t.same(spoken, []);
});

/** Files outside of src/runtime that speak of a GPU, and why. */
const GPU_SPOKEN_OF: Readonly<Record<string, string>> = {
  'src/api/cuda.ts': 'the subpath monolith-ts/cuda',
  'src/index.ts': 'names of the package',
  'src/base/errors.ts': 'codes and messages',
  'src/cli': 'flags, doctor and what is printed',
  'src/compat': 'names of the reference',
  'src/graph/device.ts': 'device names of the reference',
  'src/graph/device-utils.ts': 'device functions of the reference',
  'src/memory/device-record-layout.ts': 'records that kernels of a device read',
  'src/memory/device-table-layout.ts': 'the same of tables',
  'src/memory/kinds.ts': 'numbers that both kinds of kernels know',
  'src/memory/placement-layout.ts': 'what a program says to a device',
  'src/queue': 'queues in the memory of a device',
  'src/tensor/ops/aligned-flat.ts': 'a name of the reference',
  'src/tensor/ops/reduce-and-split.ts': 'what the reference has on GPUs only',
  'src/train/config': 'fields and variables of the reference',
  'src/api/queues.ts': 'names of queues',
  'src/train/estimator/estimator-options.ts': 'an option that sessions are given',
  'src/train/runners': 'runners of the reference',
  'src/train/task-params.ts': 'parameters of the reference',
  'src/train/tasks/cpu-training.ts': 'fields and names of the reference',
  'src/train/tasks/hook-assembly.ts': 'fields of the reference',
  'src/train/tasks/table-store.ts': 'names of the reference',
  'src/train/tasks/export-context.ts': 'a parameter of the reference',
  'src/train/tasks/task-exports.ts': 'a parameter of the reference',
  'src/serve/parts/export-parts.ts': 'a signature of the reference',
};

t.test('outside of src/runtime a GPU is spoken of where a reason is written down', async (t) => {
  const spoken = sourcesIn('src')
    .filter((file) => !file.startsWith('src/runtime/'))
    .filter((file) => /cuda|gpu|nvidia/i.test(readFileSync(join(root, file), 'utf8')));
  const places = Object.keys(GPU_SPOKEN_OF);
  const covers = (place: string, file: string) => file === place || file.startsWith(`${place}/`);
  t.same(
    spoken.filter((file) => !places.some((place) => covers(place, file))),
    [],
  );
  t.same(
    places.filter((place) => !spoken.some((file) => covers(place, file))),
    [],
    'every reason is still needed',
  );
});

t.test('sessions of the CPU train where the CUDA backend is not there at all', async (t) => {
  const dir = t.testdir();
  const filter = (from: string) => !/backends[/.]cuda/.test(from) && !/\.(d\.ts|map)$/.test(from);
  for (const part of ['src', 'chunks', 'workers'])
    cpSync(join(root, 'build', part), join(dir, 'build', part), { recursive: true, filter });
  for (const name of ['kernels', 'kernels-relaxed', 'kernels-wide']) {
    cpSync(join(root, `build/${name}.wasm`), join(dir, `build/${name}.wasm`));
  }
  writeFileSync(
    join(dir, 'train.mjs'),
    `
    import { existsSync } from 'node:fs';
    import { ffmSchema } from './build/src/demo/ffm-example.js';
    import { loadFfmBatches } from './build/src/demo/ffm-dataset.js';
    import { buildFfm } from './build/src/demo/ffm-model.js';
    import { Session } from './build/src/runtime/session/session.js';
    console.log('folder', existsSync(new URL('./build/src/runtime/backends/cuda', import.meta.url)));
    for (const backend of ['wasm', 'reference']) {
      const { graph, loss, trainOp } = buildFfm();
      const session = await Session.create(graph, { schema: ffmSchema(), batchSize: 16, threads: 2, backend });
      const [batch] = loadFfmBatches(session, { kind: 'clicks', vocab: 5, batchSize: 16, seed: 0, examples: 16 });
      const [value] = await session.run([loss, trainOp], batch);
      console.log(session.backend, value > 0);
      await session.close();
    }
    const options = { schema: ffmSchema(), batchSize: 16, backend: 'cuda' };
    const asked = await Session.create(buildFfm().graph, options).catch((error) => error.code);
    console.log('cuda', asked);
    `,
  );
  const { code, out, err } = await runNode(['train.mjs'], { cwd: dir });
  t.same(
    { code, lines: out.trim().split('\n') },
    { code: 0, lines: ['folder false', 'wasm true', 'reference true', 'cuda ERR_MODULE_NOT_FOUND'] },
    err,
  );
});

t.test('a backend that there is not is refused', async (t) => {
  const create = Session.create(new Graph(), { schema: [], batchSize: 1, backend: 'tpu' as 'wasm' });
  await t.rejects(create, { code: 'ML_FLAG', message: /tpu is none of wasm, reference, cuda, auto/ });
});

t.test('a session shows its users no memory', async (t) => {
  const session = await Session.create(new Graph(), { schema: [], batchSize: 1, threads: 1, memoryBytes: 8 << 20 });
  t.teardown(() => session.close());
  const inner = [
    'memory',
    'views',
    'arena',
    'heap',
    'control',
    'kernels',
    'tables',
    'resource',
    'onStep',
    'deviceTables',
  ];
  t.same(
    inner.filter((name) => name in session),
    [],
  );
});
