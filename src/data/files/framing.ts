/**
 * @file Framed records: a header, the length, the payload. Mirrors data_reader of native_training. Which parts a header
 * has is not visible in the file, so it has to be said.
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { checkLimit } from '../../base/limits.js';
import { PieceBuffer, u64 } from './piece-buffer.js';

export interface FramingOptions {
  /** One word before the length, with a type and the key of the source, and no other parts. Default: false. */
  readonly lagrangexHeader?: boolean;
  /** A word that is the length of the sort id, or zero and one more word. Default: false. */
  readonly kafkaDumpPrefix?: boolean;
  /** The length of a sort id, and the sort id. Default: true. */
  readonly sortId?: boolean;
  /** One word. Default: false. */
  readonly kafkaDump?: boolean;
}

export const FRAMING_OPTIONS = ['lagrangexHeader', 'kafkaDumpPrefix', 'sortId', 'kafkaDump'] as const;

export interface FramedRecord {
  readonly payload: Uint8Array;
  /** What the header says; 0 without one. */
  readonly dataSourceKey: number;
  readonly payloadType: number;
  /** Where the record begins. */
  readonly byte: number;
}

const WORD = 8;
/** A length that writers put where something was wrong. */
const DEADBEEF = 0xfefefefen;
const LOW_BYTE = 0xffn;

/** What is wrong with a record that ends early, or is none; `cut` where the stream ended inside of it. */
export class FramingError extends Error {}

/** The records of a stream; FramingError where it ends inside of one, or a length is none. */
export async function* framedRecords(
  pieces: AsyncIterable<Uint8Array>,
  options: FramingOptions = {},
): AsyncGenerator<FramedRecord> {
  const { sortId = true, ...rest } = checkOptions('framing', options, FRAMING_OPTIONS);
  const buffer = new PieceBuffer(pieces);
  try {
    for (;;) {
      const byte = buffer.offset;
      const head = await header(buffer, { ...rest, sortId });
      if (head === undefined) return;
      const size = await word(buffer);
      if (size === undefined) return;
      if (size === DEADBEEF) throw new FramingError('DEADBEEF value found');
      checkLimit('recordBytes', Number(size), (reason) => {
        throw new FramingError(`a record of ${reason}: is the header as the options say?`);
      });
      const bytes = Number(size);
      if ((await buffer.fill(bytes)) < bytes) throw new FramingError('truncated record');
      yield { payload: buffer.take(bytes), ...head, byte };
    }
  } finally {
    await buffer.close();
  }
}

/** What the header says; undefined at the end of the stream. */
async function header(
  buffer: PieceBuffer,
  { lagrangexHeader = false, kafkaDumpPrefix = false, sortId, kafkaDump = false }: FramingOptions,
): Promise<Pick<FramedRecord, 'dataSourceKey' | 'payloadType'> | undefined> {
  if (lagrangexHeader) {
    const found = await word(buffer);
    if (found === undefined) return undefined;
    return { payloadType: Number(found & LOW_BYTE), dataSourceKey: Number(BigInt.asUintN(32, found) & ~LOW_BYTE) };
  }
  let sortBytes: bigint | undefined = 0n;
  if (kafkaDumpPrefix) {
    sortBytes = await word(buffer);
    if (sortBytes === undefined || (sortBytes === 0n && (await word(buffer)) === undefined)) return undefined;
  }
  if (sortId === true) {
    if (sortBytes === 0n) sortBytes = await word(buffer);
    if (sortBytes === undefined) return undefined;
    const bytes = Number(sortBytes);
    checkLimit('recordBytes', bytes, (reason) => {
      throw new FramingError(`a sort id of ${reason}: is the header as the options say?`);
    });
    if ((await buffer.fill(bytes)) < bytes) return undefined;
    buffer.take(bytes);
  }
  if (kafkaDump && (await word(buffer)) === undefined) return undefined;
  return { dataSourceKey: 0, payloadType: 0 };
}

async function word(buffer: PieceBuffer): Promise<bigint | undefined> {
  return (await buffer.fill(WORD)) < WORD ? undefined : u64(buffer.take(WORD));
}

/** A record as writers write it, with the word of a source where there is one and zeros for the rest of the header. */
export function frame(payload: Uint8Array, options: FramingOptions & { readonly source?: string } = {}): Uint8Array {
  const { lagrangexHeader = false, kafkaDumpPrefix = false, sortId = true, kafkaDump = false, source } = options;
  const words = lagrangexHeader ? 1 : (kafkaDumpPrefix ? 2 : 0) + (sortId ? 1 : 0) + (kafkaDump ? 1 : 0);
  const bytes = new Uint8Array((words + 1) * WORD + payload.length);
  const view = new DataView(bytes.buffer);
  if (lagrangexHeader && source !== undefined) view.setUint32(0, dataSourceKeyOf(source), true);
  view.setBigUint64(words * WORD, BigInt(payload.length), true);
  bytes.set(payload, (words + 1) * WORD);
  return bytes;
}

/** The hash of a text as Java has it. */
export function javaHashCode(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return hash;
}

/** The key that a header has of a source. */
export const dataSourceKeyOf = (source: string): number => (javaHashCode(source) << 8) >>> 0;

export const DATA_TYPES = ['instance', 'example', 'example_batch', 'plaintext'] as const;
export type DataType = (typeof DATA_TYPES)[number];
/** The spellings that there are, without underlines: one of them is a slip that configs have. */
const SPELLINGS: Readonly<Record<string, DataType>> = {
  '': 'instance',
  instance: 'instance',
  example: 'example',
  examplebatch: 'example_batch',
  plaintext: 'plaintext',
};

/** The type that a config names, in any case; `exampl_ebatch` too. ML_OPTION for what is none. */
export function dataTypeOf(name: string): DataType {
  const found = SPELLINGS[name.toLowerCase().replaceAll('_', '')];
  if (found !== undefined) return found;
  const reason = `dataType is not ${name}`;
  const hint = `there are ${DATA_TYPES.join(', ')}`;
  throw new MonolithError('ML_OPTION', { where: 'framing', option: 'dataType', reason }, { hint });
}
