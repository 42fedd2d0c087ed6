/// <reference types="node" preserve="true" />
/**
 * @file `monolith-ts/cuda`: the CUDA driver, opened at run time, and the simulated one. Nothing native is loaded before
 * it is asked for.
 */

export type { DeviceTableOptions } from '../runtime/backends/cuda/cuda-options.js';
export type { DeviceBuffer } from '../runtime/backends/cuda/device-buffer.js';
export { DeviceTensor } from '../runtime/backends/cuda/device-tensor.js';
export { CudaDriver, type CudaDriverOptions } from '../runtime/backends/cuda/driver.js';
export type { CudaDevice } from '../runtime/backends/cuda/native.js';
export type {
  Extent,
  KernelArgument,
  LaunchOptions,
  PreparedLaunch,
  PtxKernel,
  PtxModule,
} from '../runtime/backends/cuda/ptx-module.js';
export type { Simulator, SimulatorControls, SimulatorCounters } from '../runtime/backends/cuda/simulator.js';
export type { CudaEvent, CudaStream } from '../runtime/backends/cuda/stream.js';
export { tryInitCuda } from '../runtime/backends/cuda/try-init-cuda.js';
