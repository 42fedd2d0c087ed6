/**
 * @file Row groups of a Parquet file as its footer has them, held to the file: hyparquet begins to read all columns
 * before it finds out that one of them is not there.
 */
import type { ColumnChunk, FileMetaData, SchemaTree } from 'hyparquet';

/** Rows of a file that stand together. */
export interface ParquetGroup {
  readonly index: number;
  /** Number of its first row in the file. */
  readonly first: number;
  readonly rows: number;
  readonly parts: readonly ColumnChunk[];
}

/** The groups; a RangeError for one that cannot be in a file of so many bytes. */
export function parquetGroups({ row_groups }: FileMetaData, root: SchemaTree, bytes: number): ParquetGroup[] {
  const paths = new Set(leaves(root));
  let first = 0;
  return row_groups.map(({ num_rows, columns }, index) => {
    const rows = Number(num_rows);
    if (!(Number.isSafeInteger(rows) && rows >= 0)) throw new RangeError(`row group ${index} has ${num_rows} rows`);
    for (const part of columns) {
      const reason = wrongIn(part, paths, bytes);
      if (reason !== undefined) throw new RangeError(`row group ${index} has a column ${reason}`);
    }
    first += rows;
    return { index, first: first - rows, rows, parts: columns };
  });
}

function wrongIn({ meta_data, file_path }: ColumnChunk, paths: ReadonlySet<string>, bytes: number): string | undefined {
  if (meta_data === undefined) return 'of which nothing is said';
  const path = meta_data.path_in_schema.join('.');
  if (!paths.has(path)) return `${path}, which is none of its schema`;
  if (file_path) return undefined;
  const data = Number(meta_data.data_page_offset);
  const dictionary = Number(meta_data.dictionary_page_offset ?? data);
  const begin = dictionary > 0 ? Math.min(data, dictionary) : data;
  const end = begin + Number(meta_data.total_compressed_size);
  return begin >= 0 && begin <= end && end <= bytes ? undefined : `${path} from byte ${begin} to ${end} of ${bytes}`;
}

/** Paths of all columns that have values of their own; a RangeError for names that are none. */
function leaves({ element, children, path }: SchemaTree): string[] {
  // What is not said is undefined, whatever its type says.
  if (typeof (element.name as unknown) !== 'string') throw new RangeError('a column has no name');
  return children.length === 0 ? [path.join('.')] : children.flatMap(leaves);
}
