/** @file How deep the tests of faults go. */
import { rounds } from '../support/rounds.js';

/** MONOLITH_FAULTS=N: N times as many attempts as a plain run makes. */
export const FAULTS = rounds({ quick: 1, deep: 2, variable: 'MONOLITH_FAULTS' });

/** A seed that differs from run to run; MONOLITH_FAULTS_SEED gives a run again. */
export const SEED = Number(process.env.MONOLITH_FAULTS_SEED ?? Date.now() % 2 ** 31);
