/**
 * @file Parquet files page by page, as tests want them: with pages of the first version, which the writer at hand does
 * not make, and with pages that lie.
 */
import { gzipSync } from 'node:zlib';
import type {
  ColumnMetaData,
  CompressionCodec,
  FieldRepetitionType,
  PageHeader,
  ParquetType,
  SchemaElement,
} from 'hyparquet';
import { ByteWriter, parquetWriteBuffer } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';
import { snappyCompress } from '../../../src/io/snappy-writer.js';

export interface RawPage {
  readonly header: Partial<PageHeader> & Pick<PageHeader, 'type'>;
  /** As they stand in the file. */
  readonly bytes: Uint8Array;
  /** Default: as many as stand there. */
  readonly decodedBytes?: number;
}

export interface RawColumn {
  readonly name: string;
  readonly type: ParquetType;
  readonly repetition?: FieldRepetitionType;
  readonly codec?: CompressionCodec;
  /** Lists of the type, which may be missing and whose values may be. */
  readonly isList?: boolean;
  readonly pages: readonly RawPage[];
  /** Changes what is said of the pages. */
  readonly said?: Partial<ColumnMetaData>;
}

/** A file of one row group. */
export function rawParquet(rows: number | bigint, columns: readonly RawColumn[]): Uint8Array {
  const writer = new ByteWriter();
  writer.appendUint32(0x31524150);
  const chunks = columns.map(({ name, type, codec = 'UNCOMPRESSED', isList, pages, said }) => {
    const begin = writer.offset;
    let data = begin;
    for (const { header, bytes, decodedBytes = bytes.length } of pages) {
      if (header.type === 'DICTIONARY_PAGE') data = -1;
      else if (data < 0) data = writer.offset;
      const sizes = { uncompressed_page_size: decodedBytes, compressed_page_size: bytes.length };
      writePageHeader(writer, { ...sizes, ...header } as PageHeader);
      writer.appendBytes(bytes);
    }
    const meta_data: ColumnMetaData = {
      ...{
        type,
        encodings: ['PLAIN'],
        path_in_schema: isList ? [name, ...LIST] : [name],
        codec,
        num_values: BigInt(rows),
      },
      ...{
        total_uncompressed_size: BigInt(writer.offset - begin),
        total_compressed_size: BigInt(writer.offset - begin),
      },
      data_page_offset: BigInt(data),
      ...(data > begin && { dictionary_page_offset: BigInt(begin) }),
      ...said,
    };
    return { file_offset: BigInt(begin), meta_data };
  });
  writeMetadata(writer, {
    version: 1,
    schema: [{ name: 'root', num_children: columns.length }, ...columns.flatMap(elementsOf)],
    num_rows: BigInt(rows),
    row_groups: [{ columns: chunks, total_byte_size: BigInt(writer.offset), num_rows: BigInt(rows) }],
    metadata_length: 0,
  });
  writer.appendUint32(0x31524150);
  return writer.getBytes().slice();
}

const LIST = ['list', 'element'] as const;

function elementsOf({ name, type, isList, repetition = 'REQUIRED' }: RawColumn): SchemaElement[] {
  if (!isList) return [{ name, type, repetition_type: repetition }];
  return [
    { name, repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
    { name: LIST[0], repetition_type: 'REPEATED', num_children: 1 },
    { name: LIST[1], type, repetition_type: 'OPTIONAL' },
  ];
}

/** A page of the first version: levels behind their length, and values. */
export function firstPage(count: number, encoding: 'PLAIN' | 'RLE_DICTIONARY', ...parts: Uint8Array[]): RawPage {
  return {
    header: {
      type: 'DATA_PAGE',
      data_page_header: {
        ...{ num_values: count, encoding },
        ...{ definition_level_encoding: 'RLE', repetition_level_encoding: 'RLE' },
      },
    },
    bytes: Buffer.concat(parts),
  };
}

export function dictionaryPage(count: number, bytes: Uint8Array): RawPage {
  return {
    header: { type: 'DICTIONARY_PAGE', dictionary_page_header: { num_values: count, encoding: 'PLAIN' } },
    bytes,
  };
}

export function runs(values: readonly number[], width: number): Uint8Array {
  const writer = new ByteWriter();
  writeRleBitPackedHybrid(writer, [...values], width);
  return writer.getBytes().slice();
}

/** Levels of a page of the first version. */
export function levels(values: readonly number[], width = 1): Uint8Array {
  return prefixed(runs(values, width));
}

/** Bytes behind their length, as texts are. */
export function prefixed(bytes: Uint8Array): Uint8Array {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(bytes.length);
  return Buffer.concat([head, bytes]);
}

export const bytesOf = (values: ArrayBufferView): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength).slice();

/** Small files with all that is decoded, to be damaged. */
export function damageableParquet(): Uint8Array[] {
  const rows = 40;
  const ids = BigInt64Array.from({ length: rows }, (_, n) => BigInt(n) * 1_000_003n);
  const words = ['a b', 'Ünal', '', 'a b c'].map((text) => prefixed(Buffer.from(text)));
  const present = Array.from({ length: rows }, (_, n) => (n % 5 === 0 ? 0 : 1));
  const there = present.filter((is) => is === 1).length;
  const floats = bytesOf(Float32Array.from({ length: there }, (_, n) => n / 2));
  const indices = (count: number) => Array.from({ length: count }, (_, n) => n % 4);
  const repeats = Array.from({ length: 2 * rows }, (_, n) => n % 2);
  const plain = (codec: CompressionCodec, pack: (bytes: Uint8Array) => Uint8Array) => {
    const packed = (page: RawPage): RawPage => ({ ...page, bytes: pack(page.bytes), decodedBytes: page.bytes.length });
    const lists = [
      firstPage(
        2 * rows,
        'RLE_DICTIONARY',
        levels(repeats),
        levels(
          repeats.map(() => 3),
          2,
        ),
        Uint8Array.of(2),
        runs(indices(2 * rows), 2),
      ),
    ];
    return rawParquet(rows, [
      { name: 'id', type: 'INT64', codec, pages: [packed(firstPage(rows, 'PLAIN', bytesOf(ids)))] },
      {
        ...{ name: 'name', type: 'BYTE_ARRAY', codec },
        pages: [
          packed(dictionaryPage(4, Buffer.concat(words))),
          packed(firstPage(rows, 'RLE_DICTIONARY', Uint8Array.of(2), runs(indices(rows), 2))),
        ],
      },
      {
        ...{ name: 'x', type: 'FLOAT', codec, repetition: 'OPTIONAL' },
        pages: [packed(firstPage(rows, 'PLAIN', levels(present), floats))],
      },
      {
        ...{ name: 'list', type: 'INT64', codec, isList: true },
        pages: [packed(dictionaryPage(4, bytesOf(ids.subarray(0, 4)))), ...lists.map(packed)],
      },
    ]);
  };
  const written = parquetWriteBuffer({
    columnData: [
      { name: 'id', data: [...ids], type: 'INT64' },
      { name: 'name', data: [...ids].map((_, n) => ['a b', null, 'Ünal'][n % 3]), type: 'STRING' },
      { name: 'x', data: [...ids].map((_, n) => (n % 4 === 1 ? null : n / 3)), type: 'DOUBLE' },
      { name: 'list', data: [...ids].map((_, n) => n), type: 'INT32' },
    ],
    rowGroupSize: 15,
  });
  return [
    plain('UNCOMPRESSED', (bytes) => bytes),
    plain('SNAPPY', snappyCompress),
    plain('GZIP', (bytes) => gzipSync(bytes)),
    new Uint8Array(written),
  ];
}
