import t from 'tap';
import { runFfmBench } from '../../bench/ffm.js';

t.test('a small run of the training bench measures every part', async (t) => {
  const { scaling, mainThread, heap, trace, backend } = await runFfmBench({ quick: true });
  t.equal(scaling.length, 1);
  for (const { examplesPerS, speedup, cpuSpeedup } of scaling) {
    t.ok([...examplesPerS, speedup, cpuSpeedup].every((value) => value > 0 && Number.isFinite(value)));
  }
  t.equal(mainThread.length, 1);
  t.ok(mainThread[0]!.loopShare >= 0 && mainThread[0]!.loopShare <= 1);
  t.equal(heap.length, 1);
  t.ok(heap[0]!.allocatedPerStep > 0);
  t.ok(trace[0]!.onOverNone > 0 && trace[0]!.onOverOff > 0 && trace[0]!.cpuOnOverOff > 0);
  t.ok(backend[0]!.referenceOverWasm > 0);
});
