/** @file The variable of the environment that names the CUDA driver. */
export const DRIVER_VARIABLE = 'MONOLITH_CUDA_DRIVER';
