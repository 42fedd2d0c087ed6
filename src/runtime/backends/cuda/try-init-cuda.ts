/**
 * @file Finds out whether steps can run on a GPU.
 *
 * Mirrors try_init_cuda of native_training: a machine without a GPU is no error unless the GPU was asked for by name.
 */
import { checkOptions } from '../../../base/check-options.js';
import { MonolithError } from '../../../base/errors.js';
import { getMpiLocalRank, isUnderMpi } from '../../../base/mpi-position.js';
import { CudaDriver, type CudaDriverOptions, versionText } from './driver.js';

/** The kernels are PTX 7.0 for compute capability 7.5. */
const VERSION_MIN = 11_000;
const CAPABILITY_MIN = 75;

/**
 * Under MPI each process has the GPU of its number on the host, unless its environment says which. For the driver,
 * which reads these variables when it is opened.
 */
export function chooseVisibleGpu(env: Record<string, string | undefined> = process.env): void {
  if (!isUnderMpi(env)) return;
  env.CUDA_DEVICE_ORDER ??= 'PCI_BUS_ID';
  env.CUDA_VISIBLE_DEVICES ??= String(getMpiLocalRank(env));
}

/** The driver with a device that can run the kernels, or the error that says what was tried and what to do. */
export function tryInitCuda(options: CudaDriverOptions = {}): CudaDriver | MonolithError {
  checkOptions('tryInitCuda', options, ['driver', 'device', 'env']);
  chooseVisibleGpu();
  try {
    const driver = CudaDriver.open(options);
    checkDriver(driver);
    return driver;
  } catch (thrown) {
    if (thrown instanceof MonolithError) return thrown;
    throw thrown;
  }
}

/** Throws when the driver or its device is older than the kernels. */
export function checkDriver({ version, device, path }: Pick<CudaDriver, 'version' | 'device' | 'path'>): void {
  if (version < VERSION_MIN) {
    const reason = `${path} is of CUDA ${versionText(version)}, 11.0 is the least`;
    throw new MonolithError('ML_CUDA_DRIVER', { reason }, { hint: 'update the NVIDIA driver, or use --backend wasm' });
  }
  if (device.computeCapability < CAPABILITY_MIN) {
    const capability = (device.computeCapability / 10).toFixed(1);
    const reason = `${device.name} has compute capability ${capability}, 7.5 is the least`;
    throw new MonolithError('ML_CUDA_DEVICE', { reason }, { hint: 'use a newer GPU, or --backend wasm' });
  }
}
