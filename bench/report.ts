/**
 * @file From a CSV file to its report: `npm run bench -- report [--rows COUNT --runs COUNT --quick --json]`.
 *
 * Runs `monolith train --data clicks.csv --label click` as people do, in a process of its own and with nothing else
 * said, on clicks that are made up, 100,000 rows of them. Wall and CPU time of the whole, start of Node.js included,
 * and of each phase; CPU time is that of all threads, and says more than the other on a machine that others use.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { writeRows } from '../src/data/files/write-rows.js';
import { ClickLog } from '../src/demo/click-log.js';
import { benchMain, type Machine, machine, machineText, median, table } from './harness.js';
import type { Mark } from './report-child.js';

/** Phases by the event that ends each. */
const PHASES = [
  ['start of the command', 'run'],
  ['read, judge, hold out', 'split'],
  ['build the model, threads', 'start'],
  ['train, evaluate', 'trained'],
  ['test', 'test'],
  ['report, end', 'exit'],
] as const;
const [ROWS, RUNS] = [100_000, 5];
const [QUICK_ROWS, QUICK_RUNS] = [3000, 1];
/** Nothing that is well takes so long. */
const LIMIT_MS = 300_000;

export interface PhaseTime {
  readonly phase: string;
  /** By run, in milliseconds. */
  readonly wallMs: readonly number[];
  readonly cpuMs: readonly number[];
}

export interface ReportBench extends Machine {
  readonly rows: number;
  readonly phases: readonly PhaseTime[];
  readonly whole: Omit<PhaseTime, 'phase'>;
}

export async function runReportBench({ quick = false }: { quick?: boolean } = {}): Promise<ReportBench> {
  const rows = countOf('--rows', quick ? QUICK_ROWS : ROWS);
  const runs = countOf('--runs', quick ? QUICK_RUNS : RUNS);
  const dir = mkdtempSync(join(tmpdir(), 'monolith-bench-report-'));
  try {
    const file = join(dir, 'clicks.csv');
    await writeRows(file, blocksOf(new ClickLog({ rows, seed: 1 })));
    const all: (readonly Mark[])[] = [];
    for (let run = 0; run < runs; run++) all.push(await marksOf(dir, file, `run-${run}`));
    const phases = PHASES.map(([phase, last], index): PhaseTime => {
      const first = index === 0 ? undefined : PHASES[index - 1]![1];
      const times = all.map((marks) => between(marks, first, last));
      return { phase, wallMs: times.map(({ wallMs }) => wallMs), cpuMs: times.map(({ cpuMs }) => cpuMs) };
    });
    const ends = all.map((marks) => between(marks, undefined, 'exit'));
    const whole = { wallMs: ends.map(({ wallMs }) => wallMs), cpuMs: ends.map(({ cpuMs }) => cpuMs) };
    return { ...machine(), rows, phases, whole };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function countOf(flag: string, usual: number): number {
  const at = process.argv.indexOf(flag);
  const count = at < 0 ? usual : Number(process.argv[at + 1]);
  if (Number.isInteger(count) && count > 0) return count;
  throw new Error(`${flag} is a whole number above 0`);
}

async function* blocksOf(log: ClickLog) {
  const rows = [...log];
  for (let from = 0; from < rows.length; from += 8192) yield rows.slice(from, from + 8192);
}

async function marksOf(dir: string, file: string, run: string): Promise<readonly Mark[]> {
  const child = fileURLToPath(new URL('./report-child.js', import.meta.url));
  const args = [child, 'train', '--data', file, '--label', 'click', '--model-dir', join(dir, run), '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: dir, timeout: LIMIT_MS });
  return JSON.parse(stdout) as Mark[];
}

/** What went by between two events; from the beginning of the process where the first is none. */
function between(marks: readonly Mark[], first: string | undefined, last: string) {
  const at = (event: string): Mark => {
    const found = marks.find((mark) => mark.event === event);
    if (found === undefined) throw new Error(`the command told no event ${event}`);
    return found;
  };
  const [from, to] = [first === undefined ? { wallMs: 0, cpuMs: 0 } : at(first), at(last)];
  return { wallMs: to.wallMs - from.wallMs, cpuMs: to.cpuMs - from.cpuMs };
}

await benchMain(import.meta.url, runReportBench, (report) => {
  const row = (name: string, { wallMs, cpuMs }: Omit<PhaseTime, 'phase'>) => [
    name,
    ...[wallMs, cpuMs].flatMap((times) => [
      (median(times) / 1000).toFixed(2),
      `${(Math.min(...times) / 1000).toFixed(2)} to ${(Math.max(...times) / 1000).toFixed(2)}`,
    ]),
  ];
  const rows = [...report.phases.map((phase) => row(phase.phase, phase)), row('whole', report.whole)];
  const head = ['phase', 'wall s', 'over runs', 'CPU s', 'over runs'];
  return `${machineText(report)}, ${report.rows} rows\n${table(head, rows)}`;
});
