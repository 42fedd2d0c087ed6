/** @file The `doctor` command: checks the machine and says what to do. Fails only when training cannot work. */
import { type Check, type Level, runChecks } from './doctor-checks.js';
import { type DoctorProbes, realProbes } from './doctor-probes.js';
import type { CliIo } from './io.js';
import { jsonLine } from './json-line.js';
import { wantsColor } from './progress.js';
import { EXIT_DONE, EXIT_FAILED } from './report.js';

const COLORS = { ok: '\x1b[32m', warn: '\x1b[33m', fail: '\x1b[31m' } as const satisfies Record<Level, string>;

/** Prints the checks and returns the exit code. */
export async function runDoctorCommand(
  options: { readonly json: boolean },
  io: CliIo,
  probes: DoctorProbes = realProbes(io.env),
): Promise<number> {
  const checks = await runChecks(probes);
  const works = checks.every((check) => check.level !== 'fail');
  if (options.json) {
    io.out.write(jsonLine({ event: 'doctor', ok: works, checks }));
  } else {
    io.out.write(doctorText(checks, wantsColor(io)));
  }
  return works ? EXIT_DONE : EXIT_FAILED;
}

/** The checks as an aligned table with a closing line. */
export function doctorText(checks: readonly Check[], color: boolean): string {
  const width = Math.max(...checks.map((check) => check.name.length));
  const indent = ' '.repeat(width + 8);
  const lines = checks.flatMap(({ name, level, found, todo }) => {
    const mark = color ? `${COLORS[level]}${level.padEnd(4)}\x1b[39m` : level.padEnd(4);
    const first = `${mark}  ${name.padEnd(width)}  ${found}`;
    return todo === null ? [first] : [first, `${indent}→ ${todo}`];
  });
  const failed = checks.filter((check) => check.level === 'fail').map((check) => check.name);
  const verdict = failed.length === 0 ? 'training works on this machine' : `training cannot work: ${failed.join(', ')}`;
  return `${lines.join('\n')}\n${verdict}\n`;
}
