/** @file The header of a page of Parquet: what is in it, and how many bytes it has. */
import { CompactReader } from '../../io/thrift.js';

export interface PageHeader {
  readonly kind: 'data' | 'data2' | 'dictionary' | 'other';
  /** Bytes of the header itself. */
  readonly bytes: number;
  readonly compressedBytes: number;
  readonly decodedBytes: number;
  /** Values, missing ones among them. */
  readonly values: number;
  readonly encoding: number;
  /** Encodings of levels: runs, but for some old writers. */
  readonly repeatEncoding: number;
  readonly presenceEncoding: number;
  /** Bytes of levels before the values of a `data2` page. */
  readonly repeatBytes: number;
  readonly presenceBytes: number;
  readonly isCompressed: boolean;
}

export const ENCODING = { plain: 0, plainDictionary: 2, runs: 3, dictionary: 8 } as const;

const KINDS: Readonly<Record<number, PageHeader['kind']>> = { 0: 'data', 2: 'dictionary', 3: 'data2' };
const [I32, STRUCT] = [5, 12];
const TRUE = 1;

/** Numbers of a structure by field; those of `inner` structures by field and field. */
type Numbers = Map<number, number>;

/** The header that begins the bytes; a CutOff where they are too few, a RangeError where they are none. */
export function pageHeader(bytes: Uint8Array): PageHeader {
  const reader = new CompactReader(bytes);
  const outer: Numbers = new Map();
  const parts = new Map<number, Numbers>();
  reader.struct((field, type) => {
    if (type === STRUCT) {
      const inner: Numbers = new Map();
      parts.set(field, inner);
      reader.struct((name, kind) => noted(reader, inner, name, kind), 1);
      return true;
    }
    return noted(reader, outer, field, type);
  });
  const kind = KINDS[needed(outer, 1, 'its kind')] ?? 'other';
  const head = {
    kind,
    bytes: reader.at,
    decodedBytes: size(outer, 2, 'its size'),
    compressedBytes: size(outer, 3, 'its compressed size'),
    ...{ values: 0, encoding: 0, repeatBytes: 0, presenceBytes: 0, isCompressed: true },
    ...{ repeatEncoding: ENCODING.runs, presenceEncoding: ENCODING.runs },
  };
  if (kind === 'other') return head;
  const part = parts.get({ data: 5, dictionary: 7, data2: 8 }[kind]);
  if (part === undefined) throw new RangeError(`a page of the kind ${kind} has no header of that kind`);
  const values = size(part, 1, 'how many values it has');
  if (kind === 'dictionary') return { ...head, values, encoding: size(part, 2, 'its encoding') };
  if (kind === 'data') {
    const [presenceEncoding, repeatEncoding] = [
      size(part, 3, 'how its levels are'),
      size(part, 4, 'how its levels are'),
    ];
    return { ...head, values, encoding: size(part, 2, 'its encoding'), presenceEncoding, repeatEncoding };
  }
  return {
    ...head,
    values,
    encoding: size(part, 4, 'its encoding'),
    presenceBytes: size(part, 5, 'the size of its levels'),
    repeatBytes: size(part, 6, 'the size of its levels'),
    isCompressed: (part.get(7) ?? TRUE) === TRUE,
  };
}

/** Whether the field was a number, which is kept; of a boolean its type, which says what it is. */
function noted(reader: CompactReader, numbers: Numbers, field: number, type: number): boolean {
  if (type === I32) numbers.set(field, reader.int());
  else if (type <= 2) numbers.set(field, type);
  return type === I32;
}

function needed(numbers: Numbers, field: number, what: string): number {
  const value = numbers.get(field);
  if (value === undefined) throw new RangeError(`the header of a page does not say ${what}`);
  return value;
}

function size(numbers: Numbers, field: number, what: string): number {
  const value = needed(numbers, field, what);
  if (value >= 0 && value < 2 ** 31) return value;
  throw new RangeError(`the header of a page says ${value} for ${what}`);
}
