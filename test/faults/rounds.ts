/** @file How deep the tests of faults go. */

/** MONOLITH_FAULTS=N: N times as many attempts as a plain run makes. */
export const FAULTS = Math.max(1, Number(process.env.MONOLITH_FAULTS ?? 1) || 1);

/** A seed that differs from run to run; MONOLITH_FAULTS_SEED gives a run again. */
export const SEED = Number(process.env.MONOLITH_FAULTS_SEED ?? Date.now() % 2 ** 31);
