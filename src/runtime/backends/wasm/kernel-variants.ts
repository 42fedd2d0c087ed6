/**
 * @file The builds of the kernels. All hold the same functions; they differ in the inner step of matrix products alone.
 *
 * `plain` gives the same bits on every machine. The others use fused multiply-adds, where the machine has them: their
 * products differ from plain ones in the last bits, and not from each other's.
 */

export const KERNEL_VARIANTS = ['plain', 'relaxed', 'wide'] as const;
export type KernelVariant = (typeof KERNEL_VARIANTS)[number];

export const VARIANT_FILES = {
  /** 128-bit vectors, multiply and add. */
  plain: 'kernels.wasm',
  /** 128-bit vectors, relaxed multiply-add. */
  relaxed: 'kernels-relaxed.wasm',
  /** The same in tiles for engines that join two vectors to one of 256 bits; slow in others. */
  wide: 'kernels-wide.wasm',
} as const satisfies Record<KernelVariant, string>;

export function isKernelVariant(name: string): name is KernelVariant {
  return (KERNEL_VARIANTS as readonly string[]).includes(name);
}
