/**
 * @file Rows as a Parquet file, by hyparquet-writer. The first rows say what columns are: whole numbers, numbers,
 * booleans, lists of these, else texts. A column without gaps is written as one that can have none, which readers like.
 */
import { ByteWriter, type ColumnSource, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { MonolithError } from '../../base/errors.js';
import { told } from '../cells.js';
import { csvText } from './csv-text.js';
import { cellIn, type DataRow } from './place.js';
import type { RowEncoder } from './row-encoder.js';

type Kind = 'INT64' | 'DOUBLE' | 'BOOLEAN' | 'STRING';

interface Column {
  readonly name: string;
  readonly kind: Kind;
  /** Whether cells may be missing. */
  readonly gaps: boolean;
}

export function parquetEncoder(names: readonly string[]): RowEncoder {
  const bytes = new ByteWriter();
  let columns: readonly Column[] | undefined;
  let writer: ParquetWriter | undefined;
  /** What was written since the last call: offsets in the file go on. */
  const taken = (): Uint8Array => {
    const some = bytes.getBytes().slice();
    bytes.index = 0;
    return some;
  };
  return {
    block(rows) {
      columns ??= names.map((name) => columnOf(name, rows));
      writer ??= new ParquetWriter({ writer: bytes, schema: schemaOf(columns) });
      const columnData = columns.map(
        (column): ColumnSource => ({
          name: column.name,
          data: rows.map((row) => cellValue(column, cellIn(row, column.name))),
        }),
      );
      void writer.write({ columnData, rowGroupSize: rows.length });
      return taken();
    },
    end() {
      void writer?.finish();
      return taken();
    },
  };
}

function schemaOf(columns: readonly Column[]): SchemaElement[] {
  const root: SchemaElement = { name: 'root', num_children: columns.length };
  return [
    root,
    ...columns.map(({ name, kind, gaps }): SchemaElement => {
      const repetition_type = gaps ? 'OPTIONAL' : 'REQUIRED';
      if (kind !== 'STRING') return { name, type: kind, repetition_type };
      return { name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type };
    }),
  ];
}

const isMissing = (cell: unknown): boolean => cell === undefined || cell === null || cell === '';

function columnOf(name: string, rows: readonly DataRow[]): Column {
  const cells = rows.map((row) => cellIn(row, name)).filter((cell) => !isMissing(cell));
  const all = (is: (cell: unknown) => boolean) => cells.length > 0 && cells.every(is);
  const isWhole = (cell: unknown) => typeof cell === 'bigint' || Number.isSafeInteger(cell);
  let kind: Kind = 'STRING';
  if (all((cell) => typeof cell === 'boolean')) kind = 'BOOLEAN';
  else if (all(isWhole)) kind = 'INT64';
  else if (all((cell) => typeof cell === 'number')) kind = 'DOUBLE';
  // A text that is missing is an empty one; a later number may be missing where none was so far.
  return { name, kind, gaps: kind === 'INT64' || kind === 'BOOLEAN' || cells.length < rows.length };
}

function cellValue({ name, kind, gaps }: Column, cell: unknown): unknown {
  if (isMissing(cell)) return gaps ? undefined : kind === 'DOUBLE' ? Number.NaN : '';
  const isNumber = typeof cell === 'number' || typeof cell === 'bigint';
  switch (kind) {
    case 'INT64':
      if (isNumber && (typeof cell === 'bigint' || Number.isSafeInteger(cell))) return BigInt(cell);
      break;
    case 'DOUBLE':
      if (isNumber) return Number(cell);
      break;
    case 'BOOLEAN':
      if (typeof cell === 'boolean') return cell;
      break;
    case 'STRING':
      return csvText(cell);
    default:
      return kind satisfies never;
  }
  const began = kind === 'INT64' ? 'whole numbers' : 'numbers or booleans';
  const reason = `column ${name} began as ${began}, and has ${told(cell as never)} later`;
  throw new MonolithError('ML_DATASET', { reason }, { hint: 'CSV and JSON lines take any cell' });
}
