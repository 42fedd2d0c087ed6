import t from 'tap';
import { addMpiExceptionHook } from '../../src/train/mpi-exception-hook.js';

t.test('under MPI an exception that nobody catches ends all ranks', async (t) => {
  const before = process.listeners('uncaughtException');
  addMpiExceptionHook({ env: {} })();
  t.same(process.listeners('uncaughtException'), before, 'not elsewhere');
  let written = '';
  const codes: number[] = [];
  const options = {
    env: { OMPI_COMM_WORLD_RANK: '3' },
    write: (text: string) => {
      written += text;
    },
    abort: (code: number) => codes.push(code),
  };
  const remove = addMpiExceptionHook(options);
  t.teardown(remove);
  addMpiExceptionHook(options);
  const added = process.listeners('uncaughtException').filter((one) => !before.includes(one));
  t.equal(added.length, 1, 'once for a process');
  added[0]!(new Error('broken'), 'uncaughtException');
  t.match(written, /^Uncaught exception was detected on rank 3\. \nError: broken\n {4}at .*/s);
  t.ok(written.endsWith('Calling MPI_Abort() to shut down MPI processes...\n'));
  t.same(codes, [1]);
  remove();
  t.same(process.listeners('uncaughtException'), before);
});
