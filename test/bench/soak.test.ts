import t from 'tap';
import { runSoak } from '../../bench/soak.js';

t.test('a short soak: everything is answered as it should be while versions come, and the end is clean', async (t) => {
  const { requests, errors, firstError, reloads, stopped, startMb, endMb } = await runSoak({
    seconds: 3,
    reloadSeconds: 1,
  });
  t.same({ errors, firstError }, { errors: 0, firstError: null });
  t.ok(requests > 20 && reloads >= 1, `${requests} requests, ${reloads} new versions`);
  t.same(stopped, { finished: 0, dropped: 0, code: 0 });
  t.ok(startMb > 0 && endMb > 0);
});
