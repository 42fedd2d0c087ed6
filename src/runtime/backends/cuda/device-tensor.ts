/** @file A dense tensor whose values are in device memory. It owns nothing: the memory is of whoever made it. */
import { allocateData, type DType, type Shape, sizeOfShape, Tensor } from '../../../tensor/tensor.js';
import type { DeviceBuffer } from './device-buffer.js';
import type { CudaDriver } from './driver.js';
import type { Handle } from './native.js';
import type { CudaStream } from './stream.js';

const ELEMENT_BYTES = { bool: 1, float32: 4, float64: 8, int32: 4, int64: 8, uint8: 1 } as const;

/** Bytes of the values of a tensor. */
export function bytesOfTensor(dtype: DType, shape: Shape): number {
  return sizeOfShape(shape) * ELEMENT_BYTES[dtype];
}

/** A tensor in the memory of a GPU. */
export class DeviceTensor<D extends DType = DType> {
  readonly dtype: D;
  readonly shape: Shape;
  readonly buffer: DeviceBuffer;
  /** Where in the buffer the values begin, in bytes. */
  readonly offset: number;
  readonly byteLength: number;

  constructor(dtype: D, shape: Shape, buffer: DeviceBuffer, offset = 0) {
    this.dtype = dtype;
    this.shape = shape;
    this.buffer = buffer;
    this.offset = offset;
    this.byteLength = bytesOfTensor(dtype, shape);
    buffer.at(offset, this.byteLength);
  }

  /**
   * A copy of a host tensor, in a buffer of its own that the caller frees. Copied at once: for set-up, not for steps.
   */
  static of<D extends DType>(driver: CudaDriver, tensor: Tensor<D>): DeviceTensor<D> {
    const buffer = driver.alloc(Math.max(1, tensor.data.byteLength));
    driver.upload(buffer, tensor.data);
    return new DeviceTensor(tensor.dtype, tensor.shape, buffer);
  }

  /** The device address of the first value, as kernels take it. */
  get address(): Handle {
    return this.buffer.at(this.offset, this.byteLength);
  }

  /** A copy on the host, made after all that is on `stream`; the calling thread stays free meanwhile. */
  async toHost(stream: CudaStream): Promise<Tensor<D>> {
    const data = allocateData(this.dtype, sizeOfShape(this.shape));
    if (data.byteLength > 0) stream.download(data, this.buffer, this.offset);
    await stream.finished();
    return new Tensor(this.dtype, this.shape, data);
  }
}
