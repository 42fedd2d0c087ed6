/** @file How much of a multiprocessor a kernel can fill, from NVIDIA's limits per architecture. */

/**
 * Warps, blocks, registers and bytes of shared memory of a multiprocessor, and bytes that each block costs besides its
 * own.
 */
const LIMITS = {
  sm_75: { warps: 32, blocks: 16, registers: 65536, sharedBytes: 65536, reservedBytes: 0 },
  sm_80: { warps: 64, blocks: 32, registers: 65536, sharedBytes: 167936, reservedBytes: 1024 },
  sm_86: { warps: 48, blocks: 16, registers: 65536, sharedBytes: 102400, reservedBytes: 1024 },
  sm_89: { warps: 48, blocks: 24, registers: 65536, sharedBytes: 102400, reservedBytes: 1024 },
  sm_90: { warps: 64, blocks: 32, registers: 65536, sharedBytes: 233472, reservedBytes: 1024 },
  sm_100: { warps: 64, blocks: 32, registers: 65536, sharedBytes: 233472, reservedBytes: 1024 },
  sm_120: { warps: 48, blocks: 24, registers: 65536, sharedBytes: 102400, reservedBytes: 1024 },
};
const REGISTER_UNIT = 256;
const SHARED_UNIT = 128;
const SCHEDULERS = 4;

const roundUp = (value, unit) => Math.ceil(value / unit) * unit;

/** Resident warps over possible warps, from 0 to 1. */
export function occupancy(architecture, { registers, sharedBytes, threads }) {
  const limit = LIMITS[architecture];
  const warps = Math.ceil(threads / 32);
  // Registers are given to warps in whole units, and warps are dealt to four schedulers.
  const perWarp = roundUp(registers * 32, REGISTER_UNIT);
  const warpsByRegisters = Math.floor(limit.registers / SCHEDULERS / perWarp) * SCHEDULERS;
  const shared = roundUp(sharedBytes + limit.reservedBytes, SHARED_UNIT);
  const blocks = Math.min(
    limit.blocks,
    Math.floor(limit.warps / warps),
    Math.floor(warpsByRegisters / warps),
    shared === 0 ? Number.POSITIVE_INFINITY : Math.floor(limit.sharedBytes / shared),
  );
  return (blocks * warps) / limit.warps;
}
