/**
 * @file Command: runs the cases of a parity file and prints one line per case and a total. Exit code 1 when one failed,
 * 2 when the file cannot be used.
 *
 *   npm run parity -- test/fixtures/parity-sparse.json
 */
import { messageOf } from '../../src/base/errors.js';
import { loadHandlers, type Outcome, readCases, runCase, type Status } from './runner.js';

const LABELS: Record<Status, string> = { pass: 'pass', fail: 'FAIL', 'not-applicable': 'n/a ' };

function line({ parity, status, reason }: Outcome): string {
  return `${LABELS[status]} ${parity.module} ${parity.case}${reason === '' ? '' : ` (${reason})`}`;
}

async function main(file: string | undefined): Promise<number> {
  if (file === undefined) {
    process.stderr.write('usage: npm run parity -- FILE\n');
    return 2;
  }
  let cases: ReturnType<typeof readCases>;
  try {
    cases = readCases(file);
  } catch (error) {
    process.stderr.write(`${file} cannot be used: ${messageOf(error)}\n`);
    return 2;
  }
  const handlers = await loadHandlers();
  const counts: Record<Status, number> = { pass: 0, fail: 0, 'not-applicable': 0 };
  for (const parity of cases) {
    const outcome = await runCase(handlers, parity);
    counts[outcome.status]++;
    process.stdout.write(`${line(outcome)}\n`);
  }
  const { pass, fail, 'not-applicable': other } = counts;
  process.stdout.write(`total ${cases.length}: ${pass} pass, ${fail} fail, ${other} not applicable\n`);
  return fail > 0 ? 1 : 0;
}

// Cases that tests shrink run at their full size here.
process.env.TOUCHED_FULL ??= '1';
process.exitCode = await main(process.argv[2]);
