/**
 * @file Which builds of the kernels lean on experiments of V8, with which flags, and where that is known to be good.
 *
 * Relaxed SIMD is on in V8 12 and newer and behind a flag in 11. Joining vectors to 256 bits is an experiment of V8 13
 * and newer. An experiment can end the process, so it is tried in this one where our tests run on the very same
 * version; elsewhere a probe tries it first (`permit-experiment.ts`).
 */
import type { Engine } from './engine.js';
import type { KernelVariant } from './kernel-variants.js';

/** Versions of V8, in Node.js, on which the tests ran the build. Others are probed. */
const KNOWN_GOOD = {
  plain: /^/,
  relaxed: /^11\.3\..*-node\./,
  wide: /^13\.6\..*-node\./,
} as const satisfies Record<KernelVariant, RegExp>;

const RELAXED_FLAG_V8 = 11;
const WIDE_V8_MIN = 13;

/** Why a build is not taken. */
export interface Refused {
  readonly ok: false;
  readonly reason: string;
  /** What can be done about it, if something can. */
  readonly advice: string | null;
}

export function refused(reason: string, advice: string | null = null): Refused {
  return { ok: false, reason, advice };
}

/** Flags with which a build is compiled: V8 looks at them when it takes the module in. */
export function compileFlags(engine: Engine, variant: KernelVariant): readonly string[] {
  return variant !== 'plain' && engine.v8 === RELAXED_FLAG_V8 ? ['experimental-wasm-relaxed-simd'] : [];
}

/**
 * Flags with which a build is run for the first time: first calls go to the optimizing compiler, because what it makes
 * is what has to be tested, and timed. What V8 has off in a process that is started without the quick compiler is named
 * too. Versions before 13 turn tiering off by themselves then, and not on again. From 14 on optimized code can be taken
 * back, for which V8 needs what the quick compiler writes down, and aborts where there is nothing.
 */
export function firstRunFlags(engine: Engine, variant: KernelVariant): readonly string[] {
  const implied = engine.v8 < 13 ? ['no-wasm-dynamic-tiering'] : engine.v8 < 14 ? [] : ['no-wasm-deopt'];
  return [...implied, 'no-liftoff', ...(variant === 'wide' ? ['experimental-wasm-revectorize'] : [])];
}

/** Why this engine cannot have joined vectors, or null. */
export function wideRefusal({ v8, arch, noFlags }: Engine): Refused | null {
  if (noFlags !== null) return refused(`vectors are joined behind a flag, and ${noFlags}`);
  if (v8 < WIDE_V8_MIN) return refused(`V8 ${v8} does not join vectors, ${WIDE_V8_MIN} does`);
  return arch === 'x64' ? null : refused(`vectors are joined on x64, this is ${arch}`);
}

/** Whether running the build takes an experiment of this engine. */
export function isExperiment(engine: Engine, variant: KernelVariant): boolean {
  return variant === 'wide' || (variant === 'relaxed' && engine.noFlags === null && engine.v8 === RELAXED_FLAG_V8);
}

/** Whether the build can be tried in this process. */
export function isKnownGood(engine: Engine, variant: KernelVariant): boolean {
  return !isExperiment(engine, variant) || KNOWN_GOOD[variant].test(engine.version);
}
