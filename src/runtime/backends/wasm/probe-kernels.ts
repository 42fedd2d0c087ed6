/**
 * @file Has a build of the kernels tried by a process of its own, within a time limit.
 *
 * What an experiment of the engine can do, aborting and hanging among it, it does there. The process runs the very same
 * code as this one would (`workers/kernel-probe.ts`) and says on one line what it found.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../../base/errors.js';
import type { KernelVariant } from './kernel-variants.js';
import { detailOf, type ProbeAnswer } from './probe-answers.js';

/**
 * Set in a probe: where the program is one file, starting it again starts all of it, and that must not probe in turn.
 */
export const PROBE_VARIABLE = 'MONOLITH_KERNEL_PROBE';

export interface ProbeRun {
  readonly script?: string;
  readonly limitMs?: number;
}

/** There was no probe, or somebody ended it, which says nothing of the kernels. */
export interface NoProbe {
  readonly outcome: 'failed';
  readonly detail: string;
}

/** What the script prints as JSON when it comes to its end. */
export interface ProbeReport {
  readonly probe: string;
  /** What is wrong with the build, or null. */
  readonly wrong: string | null;
  /** What kept it from being tried. */
  readonly failed?: string;
}

const SCRIPT = fileURLToPath(new URL('../../../../workers/kernel-probe.js', import.meta.url));
/** A probe takes a tenth of a second of CPU time; a busy machine may give it little. */
const LIMIT_MS = 10_000;
const OUTPUT_CHARS_MAX = 1 << 16;
/** Signals by which an engine ends itself. Others come from outside. */
const CRASHES = new Set<string>(['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP']);

export function probeKernels(variant: KernelVariant, run: ProbeRun = {}): Promise<ProbeAnswer | NoProbe> {
  const { script = SCRIPT, limitMs = LIMIT_MS } = run;
  if (!existsSync(script)) return Promise.resolve(noProbe(`${script} is not there`));
  return new Promise((resolve) => {
    try {
      const child = spawn(process.execPath, [script, variant], {
        // Should it leave something behind, then not among the user's files.
        cwd: dirname(script),
        env: probeEnvironment(process.env),
        stdio: ['ignore', 'pipe', 'pipe'],
        windowsHide: true,
      });
      const [out, err] = [collect(child.stdout), collect(child.stderr)];
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        child.stdout.destroy();
        child.stderr.destroy();
        resolve({ outcome: 'hung', detail: `${limitMs} ms` });
      }, limitMs);
      const end = (answer: ProbeAnswer | NoProbe) => {
        clearTimeout(timer);
        resolve(answer);
      };
      child.on('error', (cause) => end(noProbe(messageOf(cause))));
      child.on('close', (code, signal) => end(judge(variant, { code, signal, out: out(), err: err() })));
    } catch (cause) {
      resolve(noProbe(messageOf(cause)));
    }
  });
}

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
}

function judge(variant: KernelVariant, { code, signal, out, err }: Ended): ProbeAnswer | NoProbe {
  const last = (/Check failed:.*/.exec(err) ?? /^\w*Error\b.*/m.exec(err) ?? /Fatal error.*/.exec(err))?.[0] ?? '';
  if (signal !== null && !CRASHES.has(signal)) return noProbe(`${signal} ended the probe`);
  if (code !== 0) return { outcome: 'died', detail: detailOf(`${signal ?? `exit code ${code}`}: ${last}`) };
  const unknown = /unrecognized flag \S*/.exec(err)?.[0];
  if (unknown !== undefined) return { outcome: 'wrong', detail: detailOf(unknown) };
  const report = reportOf(out);
  if (report?.probe !== variant) return { outcome: 'wrong', detail: detailOf(`it answered ${JSON.stringify(out)}`) };
  if (report.failed !== undefined) return noProbe(report.failed);
  return report.wrong === null ? { outcome: 'good', detail: '' } : { outcome: 'wrong', detail: detailOf(report.wrong) };
}

function reportOf(out: string): ProbeReport | null {
  try {
    const { probe, wrong, failed } = JSON.parse(out);
    const isReport = (wrong === null || typeof wrong === 'string') && ['string', 'undefined'].includes(typeof failed);
    return isReport ? { probe, wrong, failed } : null;
  } catch {
    return null; // the caller says what came instead
  }
}

/**
 * Without what is meant for the program and its tests: loaders, debuggers, coverage, which Node.js would add if it were
 * left out.
 */
function probeEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const dropped = { NODE_OPTIONS: undefined, NODE_V8_COVERAGE: undefined };
  return { ...env, ...dropped, ELECTRON_RUN_AS_NODE: '1', [PROBE_VARIABLE]: '1' };
}

function noProbe(detail: string): NoProbe {
  return { outcome: 'failed', detail: detailOf(detail) };
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.on('data', (chunk) => {
    if (text.length < OUTPUT_CHARS_MAX) text += chunk;
  });
  return () => text;
}
