import t from 'tap';
import { runSaveBench } from '../../bench/save.js';

t.test('a small run of the save bench measures saves and restores beside plain bytes', async (t) => {
  const { rounds, shares, bytes, growthMiB, coldSkipped } = await runSaveBench({ quick: true });
  t.ok(rounds.every((round) => Object.values(round).every((clock) => clock === null || clock.ms > 0)));
  const { save, saveSynced, restore, restoreKept, restoreCold } = shares;
  t.ok([save, saveSynced, restore, restoreKept].every((share) => share !== null && share > 0));
  t.equal(restoreCold === null, coldSkipped !== null, 'reads from the disk are measured, or it is said why not');
  t.equal(bytes, 20_000 * 197);
  t.ok(growthMiB < 64);
});
