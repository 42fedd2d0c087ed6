/** @file Seeds that tell the failing reader how to end. */
export const FAIL_CODED = 1;
export const FAIL_PLAIN = 2;
export const DIE = 3;
export const DIE_LOADING = 4;
