/**
 * @file A loaded PTX module and its kernels: arguments are packed into one buffer and checked against the PTX.
 *
 * A launch that does not fit the parameter list of its kernel fails here, with the name of the parameter; the driver
 * would read whatever bytes it is given.
 */
import { MonolithError, messageOf } from '../../../base/errors.js';
import { cudaError, guarded } from './cuda-errors.js';
import { DeviceBuffer } from './device-buffer.js';
import type { Handle, NativeCuda } from './native.js';
import { type PtxEntry, type PtxParam, parseEntries } from './ptx-entries.js';
import type { CudaStream } from './stream.js';

/** Buffers go to 64-bit parameters as their address, bytes to structures, booleans nowhere. */
export type KernelArgument = number | bigint | DeviceBuffer | Uint8Array;

/** Extents of a grid or a block; what is left out is 1. */
export type Extent = number | readonly [x: number, y?: number, z?: number];

export interface LaunchOptions {
  readonly grid: Extent;
  readonly block: Extent;
  /** Bytes of dynamic shared memory. */
  readonly sharedBytes?: number;
}

export class PtxModule {
  readonly name: string;
  readonly #native: NativeCuda;
  readonly #handle: Handle;
  readonly #entries: ReadonlyMap<string, PtxEntry>;
  readonly #kernels = new Map<string, PtxKernel>();

  constructor(native: NativeCuda, name: string, ptx: string) {
    this.#native = native;
    this.name = name;
    try {
      this.#entries = parseEntries(ptx);
    } catch (cause) {
      const fields = { call: `reading ${name}`, name: 'SyntaxError', status: 0, reason: messageOf(cause) };
      throw new MonolithError('ML_CUDA_PTX', fields, { hint: 'compile it with nvcc -ptx', cause });
    }
    this.#handle = guarded(() => native.moduleLoad(ptx));
  }

  /** Names of all kernels. */
  get kernelNames(): readonly string[] {
    return [...this.#entries.keys()];
  }

  kernel(name: string): PtxKernel {
    const known = this.#kernels.get(name);
    if (known !== undefined) return known;
    const entry = this.#entries.get(name);
    if (entry === undefined) {
      const reason = `module ${this.name} has no such kernel, only ${this.kernelNames.join(', ')}`;
      throw new MonolithError('ML_CUDA_LAUNCH', { kernel: name, reason });
    }
    const handle = guarded(() => this.#native.moduleFunction(this.#handle, name));
    const kernel = new PtxKernel(this.#native, handle, entry);
    this.#kernels.set(name, kernel);
    return kernel;
  }

  /** Address and size in bytes of a variable of the module. */
  variable(name: string): { readonly address: Handle; readonly size: number } {
    const [address, size] = guarded(() => this.#native.moduleGlobal(this.#handle, name));
    return { address, size };
  }

  unload(): void {
    this.#kernels.clear();
    guarded(() => this.#native.moduleUnload(this.#handle));
  }
}

const THREADS_MAX = 0;
const STATIC_SHARED = 1;
const LOCAL_BYTES = 3;
const REGISTERS = 4;

export class PtxKernel {
  readonly name: string;
  readonly handle: Handle;
  readonly entry: PtxEntry;
  readonly #native: NativeCuda;

  constructor(native: NativeCuda, handle: Handle, entry: PtxEntry) {
    this.#native = native;
    this.handle = handle;
    this.entry = entry;
    this.name = entry.name;
  }

  /** A launch with its own argument buffer, to be repeated without allocation. */
  prepare(options: LaunchOptions, args: readonly KernelArgument[]): PreparedLaunch {
    return new PreparedLaunch(this.#native, this, options, args);
  }

  /** Launches once. */
  launch(stream: CudaStream, options: LaunchOptions, args: readonly KernelArgument[]): void {
    this.prepare(options, args).launch(stream);
  }

  /** What the driver found out by compiling; the simulator knows no registers. */
  get attributes(): { threadsMax: number; staticSharedBytes: number; localBytes: number; registers: number } {
    const read = (attribute: number) => guarded(() => this.#native.functionAttribute(this.handle, attribute));
    return {
      threadsMax: read(THREADS_MAX),
      staticSharedBytes: read(STATIC_SHARED),
      localBytes: read(LOCAL_BYTES),
      registers: read(REGISTERS),
    };
  }
}

/** Grid, block and arguments of a kernel, checked and packed. Arguments and extents can be changed between launches. */
export class PreparedLaunch {
  readonly kernel: PtxKernel;
  readonly #native: NativeCuda;
  /** | grid x y z | block x y z | shared bytes | */
  readonly #dimensions = new Uint32Array(7);
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  /** By argument: memory that must not be freed while a launch may use it. */
  readonly #buffers: (DeviceBuffer | undefined)[] = [];

  constructor(native: NativeCuda, kernel: PtxKernel, options: LaunchOptions, args: readonly KernelArgument[]) {
    this.#native = native;
    this.kernel = kernel;
    const { params, paramSize } = kernel.entry;
    if (args.length !== params.length) throw this.#bad(`it takes ${params.length} arguments, got ${args.length}`);
    this.#bytes = new Uint8Array(paramSize);
    this.#view = new DataView(this.#bytes.buffer);
    this.setGrid(options.grid);
    this.#setExtent(3, 'block', options.block);
    const threads = this.#dimensions[3]! * this.#dimensions[4]! * this.#dimensions[5]!;
    const { threadsMax } = kernel.entry;
    if (threads > threadsMax) throw this.#bad(`a block has ${threads} threads, at most ${threadsMax} can be`);
    this.#dimensions[6] = options.sharedBytes ?? 0;
    for (let index = 0; index < args.length; index++) this.set(index, args[index]!);
  }

  setGrid(grid: Extent): void {
    this.#setExtent(0, 'grid', grid);
  }

  /** Sets argument `index`. */
  set(index: number, value: KernelArgument): void {
    const param = this.kernel.entry.params[index];
    if (param === undefined) throw this.#bad(`it has no argument ${index}`);
    const problem = writeArgument(this.#view, param, value);
    if (problem !== null) throw this.#bad(`argument ${index} (${param.name}) ${problem}`);
    if (value instanceof DeviceBuffer) this.#buffers[index] = value;
    else if (this.#buffers[index] !== undefined) this.#buffers[index] = undefined;
  }

  /** Puts the launch on a stream. A fault of the kernel comes out here or at a later call. */
  launch(stream: CudaStream): void {
    // Not by `guarded`: a launch costs about a microsecond, and a closure would be a part of it.
    try {
      this.#native.launch(this.kernel.handle, this.#dimensions, stream.handle, this.#bytes);
    } catch (thrown) {
      throw cudaError(thrown);
    }
  }

  #setExtent(first: number, what: string, extent: Extent): void {
    const list = typeof extent === 'number' ? [extent] : extent;
    for (let axis = 0; axis < 3; axis++) {
      const value = list[axis] ?? 1;
      if (!Number.isInteger(value) || value < 1 || value > 0x7fffffff) throw this.#bad(`the ${what} is [${list}]`);
      this.#dimensions[first + axis] = value;
    }
  }

  #bad(reason: string): MonolithError {
    const { name, params } = this.kernel.entry;
    const types = params.map(({ kind, elementSize, size }) =>
      size === elementSize ? `.${kind}${elementSize * 8}` : `${size} bytes`,
    );
    return new MonolithError('ML_CUDA_LAUNCH', { kernel: name, reason }, { hint: `its parameters are (${types})` });
  }
}

/** Writes one argument; what is wrong with it, or null. */
function writeArgument(view: DataView, param: PtxParam, value: KernelArgument): string | null {
  const { kind, elementSize, size, offset } = param;
  if (value instanceof Uint8Array) {
    if (size === elementSize) return 'is not a structure';
    if (value.byteLength !== size) return `has ${size} bytes, got ${value.byteLength}`;
    new Uint8Array(view.buffer, offset, size).set(value);
    return null;
  }
  if (size !== elementSize) return `is a structure: give ${size} bytes`;
  if (value instanceof DeviceBuffer) {
    if (elementSize !== 8 || kind === 'f') return `has ${elementSize * 8} bits and cannot hold a buffer`;
    view.setBigUint64(offset, BigInt(value.address), true);
    return null;
  }
  if (kind === 'f') return writeFloat(view, offset, elementSize, value);
  return writeInteger(view, offset, elementSize, value);
}

function writeFloat(view: DataView, offset: number, size: number, value: number | bigint): string | null {
  if (typeof value !== 'number') return 'is a floating-point number';
  if (size === 4) view.setFloat32(offset, value, true);
  else if (size === 8) view.setFloat64(offset, value, true);
  else return 'is of 16 bits, which cannot be packed';
  return null;
}

/** PTX does not tell signed from unsigned parameters, so both ranges are taken. */
function writeInteger(view: DataView, offset: number, size: number, value: number | bigint): string | null {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return `is an integer, got ${value}`;
  const bits = size * 8;
  if (value < -(2 ** (bits - 1)) || value >= 2 ** bits) return `has ${bits} bits, got ${value}`;
  if (size === 8) view.setBigUint64(offset, BigInt.asUintN(64, BigInt(value)), true);
  else if (size === 4) view.setUint32(offset, Number(value) >>> 0, true);
  else if (size === 2) view.setUint16(offset, Number(value) & 0xffff, true);
  else view.setUint8(offset, Number(value) & 0xff);
  return null;
}
