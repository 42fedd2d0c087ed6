/**
 * @file A program that damages files and reads them: `fuzz.js DIR SEED ROUNDS`. Every read ends in what was written or
 * in an error with a code; it prints how many did what, and the seed of every attempt that did not.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { Mutator } from './mutate.js';
import { peakBytes } from './peak-bytes.js';
import { makeSubjects, outcome, type Subject, type Target } from './subjects.js';

export interface FuzzReport {
  readonly attempts: number;
  /** Reads that gave what was written, or what a damaged file without a checksum may mean. */
  readonly loads: number;
  /** Errors by code. */
  readonly codes: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
  readonly slowestMs: number;
  readonly peakBytes: number;
}

const FAILURES_MAX = 10;
/** A read of these small files takes a few milliseconds. */
const READ_MS_MAX = 10_000;

class Fuzz {
  attempts = 0;
  loads = 0;
  slowestMs = 0;
  readonly codes: Record<string, number> = {};
  readonly failures: string[] = [];

  async attempt(subject: Subject, target: Target, truth: unknown, seed: number): Promise<void> {
    const good = readFileSync(target.file);
    const bad = await target.change(good, new Mutator(seed));
    writeFileSync(target.file, bad);
    const start = performance.now();
    try {
      const { code, content } = await outcome(subject);
      if (code !== null) this.codes[code] = (this.codes[code] ?? 0) + 1;
      else if (target.isChecked && !isDeepStrictEqual(content, truth))
        throw new Error('damage was read as if it were data');
      else this.loads++;
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.failures.push(`seed ${seed}, ${subject.name}, ${target.file}: ${text}`);
    }
    const ms = performance.now() - start;
    if (ms > READ_MS_MAX)
      this.failures.push(`seed ${seed}, ${subject.name}, ${target.file}: took ${Math.round(ms)} ms`);
    this.slowestMs = Math.max(this.slowestMs, ms);
    this.attempts++;
    writeFileSync(target.file, good);
  }
}

const [dir, seed, rounds] = process.argv.slice(2);
const subjects = await makeSubjects(dir!);
const truths = new Map<Subject, unknown>();
for (const subject of subjects) truths.set(subject, (await outcome(subject)).content);
const fuzz = new Fuzz();
for (let round = 0; round < Number(rounds) && fuzz.failures.length < FAILURES_MAX; round++) {
  for (const subject of subjects) {
    for (const target of subject.targets)
      await fuzz.attempt(subject, target, truths.get(subject), Number(seed) + round);
  }
}
for (const subject of subjects) {
  const { code, content } = await outcome(subject);
  if (code !== null || !isDeepStrictEqual(content, truths.get(subject)))
    fuzz.failures.push(`${subject.name} is not whole again`);
}
const { attempts, loads, codes, failures, slowestMs } = fuzz;
const report: FuzzReport = { attempts, loads, codes, failures, slowestMs, peakBytes: peakBytes() };
console.log(JSON.stringify(report));
process.exit(0);
