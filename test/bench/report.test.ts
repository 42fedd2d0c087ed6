import t from 'tap';
import { runReportBench } from '../../bench/report.js';

t.setTimeout(120_000);

t.test('the bench of reports runs the command and has a time for each phase', async (t) => {
  const { rows, phases, whole } = await runReportBench({ quick: true });
  t.equal(rows, 3000);
  t.equal(phases.length, 6);
  for (const { phase, wallMs, cpuMs } of phases) t.ok(wallMs[0]! >= 0 && cpuMs[0]! >= 0, phase);
  const sum = phases.reduce((all, { wallMs }) => all + wallMs[0]!, 0);
  t.ok(Math.abs(sum - whole.wallMs[0]!) < 1, 'the phases are all of it');
});
