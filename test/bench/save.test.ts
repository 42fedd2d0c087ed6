import t from 'tap';
import { runSaveBench } from '../../bench/save.js';

t.test('a small run of the save bench measures saves and restores beside plain bytes', async (t) => {
  const { rounds, shares, bytes, growthMiB } = await runSaveBench({ quick: true });
  t.ok(rounds.every((round) => Object.values(round).every(({ ms }) => ms > 0)));
  t.ok(shares.save > 0 && shares.saveSynced > 0 && shares.restore > 0);
  t.equal(bytes, 20_000 * 197);
  t.ok(growthMiB < 64);
});
