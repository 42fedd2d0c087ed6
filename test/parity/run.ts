/**
 * @file Command: runs the cases of parity files and prints one line per case, and per file how many passed. Exit code 1
 * when one failed or has a key that nobody knows, 2 when a file cannot be used.
 *
 *   npm run parity -- test/fixtures/parity-sparse.json test/fixtures/parity-io.json
 */
import { messageOf } from '../../src/base/errors.js';
import { readCases } from './read-case.js';
import { loadHandlers, type Outcome, runCase, type Status } from './runner.js';

const LABELS: Record<Status, string> = { pass: 'pass', fail: 'FAIL', 'unknown-key': 'KEY?', 'not-applicable': 'n/a ' };

type Handlers = Awaited<ReturnType<typeof loadHandlers>>;

function line({ label, status, reason }: Outcome): string {
  return `${LABELS[status]} ${label}${reason === '' ? '' : ` (${reason})`}`;
}

/** Exit code of one file. */
async function runFile(handlers: Handlers, file: string): Promise<number> {
  let cases: ReturnType<typeof readCases>;
  try {
    cases = readCases(file);
  } catch (error) {
    process.stderr.write(`${file} cannot be used: ${messageOf(error)}\n`);
    return 2;
  }
  const counts: Record<Status, number> = { pass: 0, fail: 0, 'unknown-key': 0, 'not-applicable': 0 };
  for (const entry of cases) {
    const outcome = await runCase(handlers, entry);
    counts[outcome.status]++;
    process.stdout.write(`${line(outcome)}\n`);
  }
  const { pass, fail, 'unknown-key': keys, 'not-applicable': other } = counts;
  process.stdout.write(
    `total ${cases.length}: ${pass} pass, ${fail} fail, ${keys} unknown key, ${other} not applicable\n`,
  );
  return fail + keys > 0 ? 1 : 0;
}

async function main(files: readonly string[]): Promise<number> {
  if (files.length === 0) {
    process.stderr.write('usage: npm run parity -- FILE...\n');
    return 2;
  }
  const handlers = await loadHandlers();
  let worst = 0;
  for (const file of files) {
    if (files.length > 1) process.stdout.write(`${file}\n`);
    worst = Math.max(worst, await runFile(handlers, file));
  }
  return worst;
}

// Cases that tests shrink run at their full size here.
process.env.TOUCHED_FULL ??= '1';
process.exitCode = await main(process.argv.slice(2));
