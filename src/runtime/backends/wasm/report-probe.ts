/**
 * @file What a process that was started to probe a build of the kernels does: runs it as a session would, and reports.
 */
import { MonolithError, messageOf } from '../../../base/errors.js';
import { type Engine, thisEngine } from './engine.js';
import { KernelSelfTest } from './kernel-self-test.js';
import { isKernelVariant } from './kernel-variants.js';
import type { ProbeReport } from './probe-kernels.js';
import { tryBuilds } from './try-builds.js';

/** How quick the build is, each process asks for itself: by a clock that stands still no build is too slow. */
const untimed: Engine = { ...thisEngine, now: () => 0 };

export async function reportProbe(variant: string | undefined): Promise<ProbeReport> {
  const probe = String(variant);
  try {
    if (variant === undefined || !isKernelVariant(variant)) return { probe, wrong: null, failed: 'no such build' };
    const { module } = await tryBuilds(untimed, { variant, by: 'a probe' }, async () => null);
    // Once more with the flags set back, as the steps of a session will run it.
    return { probe, wrong: new KernelSelfTest(module).mismatch() };
  } catch (thrown) {
    const isRefusal = thrown instanceof MonolithError && thrown.code === 'ML_KERNELS';
    return isRefusal
      ? { probe, wrong: String(thrown.fields.reason) }
      : { probe, wrong: null, failed: messageOf(thrown) };
  }
}
