import t from 'tap';
import { runServeBench } from '../../bench/serve.js';

t.test('the bench of serving asks in process and over HTTP, and applies a delta', async (t) => {
  const { inProcess, rest, delta } = await runServeBench({ quick: true });
  t.ok(inProcess.p50Us > 0 && inProcess.p99Us >= inProcess.p50Us);
  t.same(
    rest.map(({ rowsPerRequest }) => rowsPerRequest),
    [1, 100],
  );
  for (const { requestsPerSec, ofConstant, byCpu } of rest) t.ok(requestsPerSec > 0 && ofConstant > 0 && byCpu > 0);
  t.ok(delta.bytesOfWhole > 0 && delta.bytesOfWhole < 1.5 && delta.timeOfWhole > 0);
});
