/**
 * @file Picks the quickest build of the kernels that this engine runs rightly.
 *
 * Relaxed SIMD is on in V8 12 and newer and behind a flag in 11. Joining vectors to 256 bits is an experiment of V8 13
 * and newer: only functions that the self-test has run are compiled so, and a build that fails it is not used. The choice
 * is made once per process, by the main thread: pool threads get the module, and with it what the self-test had compiled.
 *
 * A self-test is 20 ms of compilation. It is for what is experimental: relaxed SIMD that is on by itself is as good as the
 * SIMD of the plain kernels, and is compiled when it is first used, unless the wide kernels are to be compared with it.
 */
import { MonolithError } from '../base/errors.js';
import { type Engine, thisEngine } from './engine.js';
import { KernelSelfTest } from './kernel-self-test.js';
import { isKernelVariant, KERNEL_VARIANTS, type KernelVariant } from './kernel-variants.js';
import { compileKernels, compileKernelsNow } from './load-kernels.js';
import { RELAXED_SIMD } from './wasm-features.js';

export interface ChosenKernels {
  readonly variant: KernelVariant;
  readonly module: WebAssembly.Module;
  /** Why it is this one, for people. */
  readonly why: string;
}

export interface KernelChoice {
  /** Takes this build and no other. Default: what the environment variable MONOLITH_KERNELS says, else the quickest. */
  readonly kernels?: KernelVariant | undefined;
  /** The build that is the same everywhere. */
  readonly deterministic?: boolean | undefined;
}

const VARIABLE = 'MONOLITH_KERNELS';
const RELAXED_FLAG_V8 = 11;
const RELAXED_FLAG = 'experimental-wasm-relaxed-simd';
const WIDE_V8_MIN = 13;
const WIDE_FLAG = 'experimental-wasm-revectorize';
/** First calls go to the optimizing compiler: what it makes is what has to be tested, and timed. */
const TOP_TIER_FLAG = 'no-liftoff';
/** Time over that of the relaxed build: joined vectors take about half, and without joining the tiles spill: about 1.5. */
const WIDE_TIME_MAX = 0.8;

const chosen = new Map<string, Promise<ChosenKernels>>();

/** The kernels a session runs on; every later call of this process gets the same. */
export function chooseKernels(choice: KernelChoice = {}): Promise<ChosenKernels> {
  const asked = askedVariant(choice, process.env[VARIABLE]);
  const key = asked?.variant ?? 'best';
  let result = chosen.get(key);
  if (result === undefined) {
    result = chooseFor(thisEngine, asked);
    chosen.set(key, result);
    result.catch(() => chosen.delete(key));
  }
  return result;
}

interface Asked {
  readonly variant: KernelVariant;
  readonly by: string;
}

/** The variant somebody insists on, if any. */
export function askedVariant({ kernels, deterministic }: KernelChoice, variable: string | undefined): Asked | null {
  const named = kernels ?? (variable === '' ? undefined : variable);
  const by = kernels === undefined ? VARIABLE : 'the option kernels';
  if (named !== undefined && !isKernelVariant(named)) {
    const reason = `${by} names no build`;
    throw new MonolithError('ML_KERNELS', { variant: named, reason }, { hint: `it is ${KERNEL_VARIANTS.join(', ')}` });
  }
  if (deterministic) {
    if (named !== undefined && named !== 'plain') {
      const reason = `${by} asks for it, and a deterministic session runs on plain ones`;
      throw new MonolithError('ML_KERNELS', { variant: named, reason }, { hint: 'give one of the two' });
    }
    return { variant: 'plain', by: 'deterministic' };
  }
  return named === undefined ? null : { variant: named, by };
}

type Tried = { readonly ok: true; readonly module: WebAssembly.Module; readonly test: KernelSelfTest } | Refused;
interface Refused {
  readonly ok: false;
  readonly reason: string;
}

const refused = (reason: string): Refused => ({ ok: false, reason });

/** Tries builds from the safest to the quickest and stops at what was asked for. */
export async function chooseFor(engine: Engine, asked: Asked | null): Promise<ChosenKernels> {
  const plain = async (why: string): Promise<ChosenKernels> => {
    return { variant: 'plain', module: await compileKernels(), why };
  };
  if (asked?.variant === 'plain') return plain(`asked for by ${asked.by}`);
  const notWide = asked?.variant === 'relaxed' ? 'not asked for' : wideRefusal(engine);
  const relaxed = await tryRelaxed(engine, { isCompared: notWide === null });
  if (!relaxed.ok) {
    if (asked) throw unavailable(asked, relaxed);
    return plain(`not relaxed: ${relaxed.reason}`);
  }
  const because = asked && `asked for by ${asked.by}`;
  if (asked?.variant === 'relaxed') return { variant: 'relaxed', module: relaxed.module, why: because! };
  const wide = notWide === null ? await tryWide(engine, relaxed.test) : refused(notWide);
  if (!wide.ok) {
    if (asked) throw unavailable(asked, wide);
    return { variant: 'relaxed', module: relaxed.module, why: `not wide: ${wide.reason}` };
  }
  return { variant: 'wide', module: wide.module, why: because ?? 'the self-test is passed' };
}

function unavailable({ variant, by }: Asked, { reason }: Refused): MonolithError {
  const hint = `leave ${by} out to take the best there is; \`monolith doctor\` says which`;
  return new MonolithError('ML_KERNELS', { variant, reason }, { hint });
}

async function tryRelaxed(engine: Engine, { isCompared }: { readonly isCompared: boolean }): Promise<Tried> {
  const isExperimental = engine.v8 === RELAXED_FLAG_V8;
  const flags = isExperimental ? [RELAXED_FLAG] : [];
  if (!engine.withFlags(flags, () => engine.validate(RELAXED_SIMD))) {
    return refused(`this engine (V8 ${engine.v8}) has no relaxed SIMD`);
  }
  const module = await compileKernelsNow('relaxed', (compile) => engine.withFlags(flags, compile));
  const test = new KernelSelfTest(module);
  // Before the wide kernels come: what is first run with their flags would be compiled with them.
  const isTested = isExperimental || isCompared;
  const mismatch = isTested ? engine.withFlags([TOP_TIER_FLAG], () => test.mismatch()) : null;
  return mismatch === null ? { ok: true, module, test } : refused(mismatch);
}

/** Why this engine cannot have joined vectors, or null. */
function wideRefusal(engine: Engine): string | null {
  if (engine.v8 < WIDE_V8_MIN) return `V8 ${engine.v8} does not join vectors, ${WIDE_V8_MIN} does`;
  return engine.arch === 'x64' ? null : `vectors are joined on x64, this is ${engine.arch}`;
}

async function tryWide(engine: Engine, relaxed: KernelSelfTest): Promise<Tried> {
  const module = await compileKernelsNow('wide', (compile) => compile());
  const test = new KernelSelfTest(module);
  return engine.withFlags([TOP_TIER_FLAG, WIDE_FLAG], () => {
    const mismatch = test.mismatch();
    if (mismatch !== null) return refused(mismatch);
    if (!test.equals(relaxed)) return refused('its products differ from those of the relaxed kernels');
    const time = test.timeOver(relaxed, engine.now);
    if (time > WIDE_TIME_MAX) return refused(`it takes ${time.toFixed(2)} of the time of the relaxed kernels`);
    return { ok: true, module, test };
  });
}
