import t from 'tap';
import { eventsOf } from '../cli/run-cli.js';
import { runHere } from '../cli/run-here.js';
import { withSimulated } from './simulated.js';

const CUDA = ['--backend', 'cuda', '--cuda-driver', 'sim'];

function train(...args: readonly string[]) {
  return runHere(['train', '--data', 'reference', '--steps', '5', '--batch-size', '16', ...args], { cwd: t.testdir() });
}

// First: a process that has opened a driver keeps it.
t.test('without the driver it fails at once, with what was tried and what to do', async (t) => {
  const { code, err } = await train('--backend', 'cuda', '--cuda-driver', '/nowhere/libcuda.so.1');
  t.equal(code, 1);
  t.match(err, /ML_CUDA_(DRIVER|ADDON).*(nowhere|not built)/);
  t.match(err, /hint: /);
});

t.test(
  'monolith train trains the demo on the simulated driver',
  withSimulated(async (t) => {
    const { code, out } = await train(...CUDA, '--json');
    t.equal(code, 0, out);
    t.match(eventsOf(out).at(-1), { event: 'done', step: 5, backend: 'cuda', threads: 1 });
  }),
);

t.test(
  'monolith train keeps tables on the device, with a limit of rows or without',
  withSimulated(async (t) => {
    t.match(await train(...CUDA, '--use-gpu-emb-table', '--json'), { code: 0, out: /"event":"done"/ });
    t.match(await train(...CUDA, '--use-gpu-emb-table', '--gpu-table-rows', '3'), {
      code: 1,
      err: /ML_GPU_TABLE_FULL[\s\S]*--gpu-table-rows\): 16 take \d+ bytes/,
    });
  }),
);
