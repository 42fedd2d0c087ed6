/**
 * @file Tensor files of the safetensors format: a length, a header of JSON, and the bytes of all tensors behind it.
 *
 * Written in one pass, for which the sizes of all tensors must be known before; read tensor by tensor, so that a table
 * larger than memory can be gone over in portions. Nothing in such a file is code.
 */
import type { FileHandle } from 'node:fs/promises';
import { parseBoundedJson } from '../base/bounded-json.js';
import { MonolithError, messageOf } from '../base/errors.js';
import type { FileSink } from '../base/files/atomic-file.js';
import { openRegularHandle } from '../base/files/read-file.js';
import { LIMITS, overLimit } from '../base/limits.js';

const BYTES = { F32: 4, F16: 2, I64: 8, I8: 1 } as const;
export type SafeDtype = keyof typeof BYTES;

export interface SafeTensorSpec {
  readonly name: string;
  readonly dtype: SafeDtype;
  readonly shape: readonly number[];
}

interface Entry {
  readonly dtype: SafeDtype;
  readonly shape: readonly number[];
  /** From the end of the header. */
  readonly begin: number;
  readonly end: number;
}

const HEAD_BYTES = 8;
/** Headers end at a multiple of this, so that tensors of 64 bits lie on their boundary. */
const ALIGNMENT = 8;

export const tensorBytes = ({ dtype, shape }: Pick<SafeTensorSpec, 'dtype' | 'shape'>): number =>
  shape.reduce((count, size) => count * size, BYTES[dtype]);

/** Writes tensors in the order they were announced. */
export class SafetensorsWriter {
  readonly #sink: FileSink;
  #left: number;

  private constructor(sink: FileSink, bytes: number) {
    this.#sink = sink;
    this.#left = bytes;
  }

  /** Writes the header. */
  static async begin(
    sink: FileSink,
    tensors: readonly SafeTensorSpec[],
    metadata: Readonly<Record<string, string>> = {},
  ): Promise<SafetensorsWriter> {
    let at = 0;
    const header: Record<string, unknown> = { __metadata__: metadata };
    for (const tensor of tensors) {
      const end = at + tensorBytes(tensor);
      header[tensor.name] = { dtype: tensor.dtype, shape: tensor.shape, data_offsets: [at, end] };
      at = end;
    }
    const text = Buffer.from(JSON.stringify(header));
    const bytes = Math.ceil((HEAD_BYTES + text.length) / ALIGNMENT) * ALIGNMENT - HEAD_BYTES;
    const head = Buffer.alloc(HEAD_BYTES + bytes, ' ');
    head.writeBigUInt64LE(BigInt(bytes), 0);
    text.copy(head, HEAD_BYTES);
    await sink.write(head);
    return new SafetensorsWriter(sink, at);
  }

  /** The next bytes: of a tensor, or of several that follow each other. */
  async write(values: ArrayBufferView): Promise<void> {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    this.#left -= bytes.length;
    await this.#sink.write(bytes);
  }

  /** Bytes that were announced and not written yet. */
  get left(): number {
    return this.#left;
  }
}

/** A file that is open to be read. */
export class SafetensorsFile {
  readonly file: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly #handle: FileHandle;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #base: number;

  private constructor(file: string, handle: FileHandle, header: Header, base: number) {
    this.file = file;
    this.#handle = handle;
    this.metadata = header.metadata;
    this.#entries = header.entries;
    this.#base = base;
  }

  /** ML_SAFETENSORS for a file that is none; the caller closes it. */
  static async open(file: string): Promise<SafetensorsFile> {
    const refuse = (reason: string, cause?: unknown): never => {
      throw new MonolithError('ML_SAFETENSORS', { file, reason }, { cause });
    };
    const handle = await openRegularHandle(file).catch((cause: unknown) => refuse(messageOf(cause), cause));
    try {
      const { size } = await handle.stat();
      const head = Buffer.alloc(HEAD_BYTES);
      const { bytesRead } = await handle.read(head, 0, HEAD_BYTES, 0);
      const length = bytesRead < HEAD_BYTES ? -1 : Number(head.readBigUInt64LE(0));
      if (length < 2 || length > size - HEAD_BYTES) refuse('it ends before its header does');
      if (length > LIMITS.tensorsHeaderBytes) refuse(`its header ${overLimit('tensorsHeaderBytes', length)}`);
      const text = Buffer.alloc(length);
      await handle.read(text, 0, length, HEAD_BYTES);
      const base = HEAD_BYTES + length;
      return new SafetensorsFile(file, handle, readHeader(text.toString('utf8'), size - base, refuse), base);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get tensors(): readonly SafeTensorSpec[] {
    return [...this.#entries].map(([name, { dtype, shape }]) => ({ name, dtype, shape }));
  }

  /** What is said of a tensor; ML_SAFETENSORS when there is none, or of another type. */
  spec(name: string, dtypes: readonly SafeDtype[]): SafeTensorSpec {
    const { dtype, shape } = this.#entry(name);
    if (!dtypes.includes(dtype)) this.#refuse(`${name} is ${dtype}, not ${dtypes.join(' or ')}`);
    return { name, dtype, shape };
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** All of a tensor of floats. */
  async floats(name: string): Promise<Float32Array<ArrayBuffer>> {
    const { shape } = this.spec(name, ['F32']);
    const out = new Float32Array(shape.reduce((count, size) => count * size, 1));
    await this.read(name, 0, out);
    return out;
  }

  /** Fills `into` with what the tensor has from the byte `from` on. */
  async read(name: string, from: number, into: ArrayBufferView): Promise<void> {
    const { begin, end } = this.#entry(name);
    if (from + into.byteLength > end - begin) this.#refuse(`${name} has no ${into.byteLength} bytes at ${from}`);
    const bytes = new Uint8Array(into.buffer, into.byteOffset, into.byteLength);
    let at = 0;
    while (at < bytes.length) {
      const position = this.#base + begin + from + at;
      const { bytesRead } = await this.#handle.read(bytes, at, bytes.length - at, position);
      if (bytesRead === 0) this.#refuse(`${name} ends early`);
      at += bytesRead;
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  #entry(name: string): Entry {
    return this.#entries.get(name) ?? this.#refuse(`it has no tensor ${name}`);
  }

  #refuse(reason: string): never {
    throw new MonolithError('ML_SAFETENSORS', { file: this.file, reason });
  }
}

interface Header {
  readonly metadata: Readonly<Record<string, string>>;
  readonly entries: ReadonlyMap<string, Entry>;
}

/** Tensors lie behind each other without holes, as the format wants it: what is hidden in none is in no file. */
function readHeader(text: string, bytes: number, refuse: (reason: string, cause?: unknown) => never): Header {
  let value: unknown;
  try {
    value = parseBoundedJson(text, 'modelValues', refuse);
  } catch (cause) {
    if (cause instanceof MonolithError) throw cause;
    return refuse(`its header is no JSON: ${messageOf(cause)}`, cause);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse('its header is no object');
  const { __metadata__: metadata = {}, ...tensors } = value as Record<string, unknown>;
  const entries = new Map(Object.entries(tensors).map(([name, entry]) => [name, readEntry(name, entry, refuse)]));
  let at = 0;
  for (const [name, { begin, end }] of [...entries].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end)) {
    if (begin !== at) refuse(`${name} does not begin where the tensor before it ends`);
    at = end;
  }
  if (at !== bytes) refuse(`its tensors have ${at} bytes, and ${bytes} follow the header`);
  return { metadata: metadata as Record<string, string>, entries };
}

function readEntry(name: string, value: unknown, refuse: (reason: string) => never): Entry {
  const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isSize = (size: unknown): size is number => Number.isSafeInteger(size) && (size as number) >= 0;
  if (typeof dtype !== 'string' || !Object.hasOwn(BYTES, dtype)) refuse(`${name} has a type that is not read here`);
  if (!Array.isArray(shape) || shape.length > LIMITS.rank || !shape.every(isSize)) refuse(`${name} has no shape`);
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isSize)) refuse(`${name} has no place`);
  const [begin, end] = offsets as [number, number];
  const spec = { dtype: dtype as SafeDtype, shape: shape as number[] };
  if (end - begin !== tensorBytes(spec)) refuse(`${name} has ${end - begin} bytes for shape [${spec.shape}]`);
  return { ...spec, begin, end };
}
