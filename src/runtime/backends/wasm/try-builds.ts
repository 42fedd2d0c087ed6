/**
 * @file Tries builds of the kernels in this process, from the safest to the quickest.
 *
 * Of builds that take an experiment of V8 only functions that the self-test has run are compiled so, and a build that
 * fails it is not used. What is not known to be good on this engine needs a permit first: a self-test can end the
 * process.
 *
 * A self-test is 20 ms of compilation. It is for what is experimental: relaxed SIMD that is on by itself is as good as
 * the SIMD of the plain kernels, and is compiled when it is first used, unless the wide kernels are to be compared with
 * it.
 */

import { MonolithError } from '../../../base/errors.js';
import type { WasmModule } from '../../../base/wasm-types.js';
import type { Engine } from './engine.js';
import { compileFlags, firstRunFlags, isExperiment, type Refused, refused, wideRefusal } from './kernel-experiments.js';
import { KernelSelfTest } from './kernel-self-test.js';
import type { KernelVariant } from './kernel-variants.js';
import { compileKernels } from './load-kernels.js';
import { RELAXED_SIMD } from './wasm-features.js';

export interface ChosenKernels {
  readonly variant: KernelVariant;
  readonly module: WasmModule;
  /** Why it is this one, for people. */
  readonly why: string;
  /** What would bring a quicker one, where something was in the way. */
  readonly advice: string | null;
}

/** Somebody insists on a build. */
export interface Asked {
  readonly variant: KernelVariant;
  readonly by: string;
}

/** Why a build may not be tried in this process, or null. */
export type Permit = (
  engine: Engine,
  variant: KernelVariant,
  wish: { readonly isAsked: boolean },
) => Promise<Refused | null>;

/**
 * Time over that of the relaxed build: joined vectors take about half, and without joining the tiles spill: about 1.5.
 */
const WIDE_TIME_MAX = 0.8;

type Tried = { readonly ok: true; readonly module: WasmModule; readonly test: KernelSelfTest } | Refused;

/** Tries builds from the safest to the quickest and stops at what was asked for. */
export async function tryBuilds(engine: Engine, asked: Asked | null, permit: Permit): Promise<ChosenKernels> {
  if (asked?.variant === 'plain') return plainKernels(`asked for by ${asked.by}`);
  const permitted = (variant: KernelVariant) => permit(engine, variant, { isAsked: asked !== null });
  const notRelaxed = relaxedRefusal(engine) ?? (await permitted('relaxed'));
  const notWide =
    asked?.variant === 'relaxed'
      ? refused('not asked for')
      : (notRelaxed ?? wideRefusal(engine) ?? (await permitted('wide')));
  const choose = () => chooseAmong(engine, asked, { notRelaxed, notWide });
  return notWide === null || isExperiment(engine, 'relaxed') ? engine.alone(choose) : choose();
}

interface Refusals {
  readonly notRelaxed: Refused | null;
  readonly notWide: Refused | null;
}

async function chooseAmong(
  engine: Engine,
  asked: Asked | null,
  { notRelaxed, notWide }: Refusals,
): Promise<ChosenKernels> {
  const relaxed = notRelaxed ?? (await tryRelaxed(engine, { isCompared: notWide === null }));
  if (!relaxed.ok) {
    if (asked) throw unavailable(asked, relaxed);
    return plainKernels(`not relaxed: ${relaxed.reason}`, relaxed.advice);
  }
  const { module } = relaxed;
  const because = asked && `asked for by ${asked.by}`;
  if (asked?.variant === 'relaxed') return { variant: 'relaxed', module, why: because!, advice: null };
  const wide = notWide ?? (await tryWide(engine, relaxed.test));
  if (!wide.ok) {
    if (asked) throw unavailable(asked, wide);
    return { variant: 'relaxed', module, why: `not wide: ${wide.reason}`, advice: wide.advice };
  }
  return { variant: 'wide', module: wide.module, why: because ?? 'the self-test is passed', advice: null };
}

async function plainKernels(why: string, advice: string | null = null): Promise<ChosenKernels> {
  return { variant: 'plain', module: await compileKernels(), why, advice };
}

function unavailable({ variant, by }: Asked, { reason, advice }: Refused): MonolithError {
  const hint = `leave ${by} out to take the best there is; \`monolith doctor\` says which`;
  return new MonolithError(
    'ML_KERNELS',
    { variant, reason },
    { hint: advice === null ? hint : `${advice}; or ${hint}` },
  );
}

function relaxedRefusal(engine: Engine): Refused | null {
  const has = engine.withFlags(compileFlags(engine, 'relaxed'), () => engine.validate(RELAXED_SIMD));
  const unless = engine.noFlags === null ? '' : ` without a flag, and ${engine.noFlags}`;
  return has ? null : refused(`this engine (V8 ${engine.v8}) has no relaxed SIMD${unless}`);
}

async function tryRelaxed(engine: Engine, { isCompared }: { readonly isCompared: boolean }): Promise<Tried> {
  const module = await compileKernels('relaxed', engine);
  const test = new KernelSelfTest(module);
  // Before the wide kernels come: what is first run with their flags would be compiled with them.
  const isTested = isExperiment(engine, 'relaxed') || isCompared;
  const mismatch = isTested ? engine.withFlags(firstRunFlags(engine, 'relaxed'), () => test.mismatch()) : null;
  return mismatch === null ? { ok: true, module, test } : refused(mismatch);
}

async function tryWide(engine: Engine, relaxed: KernelSelfTest): Promise<Tried> {
  const module = await compileKernels('wide', engine);
  const test = new KernelSelfTest(module);
  return engine.withFlags(firstRunFlags(engine, 'wide'), () => {
    const mismatch = test.mismatch();
    if (mismatch !== null) return refused(mismatch);
    if (!test.equals(relaxed)) return refused('its products differ from those of the relaxed kernels');
    // Not a number by a clock that stands still, and then not too long.
    const time = test.timeOver(relaxed, engine.now);
    if (time > WIDE_TIME_MAX) return refused(`it takes ${time.toFixed(2)} of the time of the relaxed kernels`);
    return { ok: true, module, test };
  });
}
