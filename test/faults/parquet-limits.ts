/** @file Parquet files just beyond each limit of their readers. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { LIMITS, type LimitName } from '../../src/base/limits.js';
import { Dataset } from '../../src/data/dataset.js';
import { f } from '../../src/data/fields.js';
import { ParquetFile } from '../../src/data/files/parquet-file.js';
import { type Feature, Schema } from '../../src/data/schema.js';
import { dictionaryPage, firstPage, prefixed, rawParquet } from '../data/quick/raw-parquet.js';
import { quick } from '../support/quick-batches.js';
import { sparse } from './sparse-file.js';

const over = (name: LimitName) => LIMITS[name] + 1;

/** Goes over a Parquet file of one column as a reader thread does. */
async function decoded(dir: string, bytes: Uint8Array, feature: Feature): Promise<void> {
  const file = join(dir, 'x.parquet');
  writeFileSync(file, bytes);
  await quick(Dataset.from(file), new Schema({ x: feature }));
}

export const PARQUET_BEYOND = {
  footerBytes: [
    async (dir: string) => {
      const file = sparse(join(dir, 'x.parquet'), 2 * LIMITS.footerBytes);
      const tail = Buffer.from('....PAR1');
      tail.writeUInt32LE(over('footerBytes'));
      appendFileSync(file, tail);
      return ParquetFile.open(file);
    },
  ],
  pageBytes: [
    (dir: string) => {
      const page = { ...firstPage(1, 'PLAIN', new Uint8Array(8)), decodedBytes: over('pageBytes') };
      return decoded(dir, rawParquet(1, [{ name: 'x', type: 'INT64', codec: 'SNAPPY', pages: [page] }]), f.id());
    },
  ],
  blockIds: [
    (dir: string) => {
      const count = over('blockIds');
      // Runs of as many values, in some bytes each.
      const run = (value: number, times: number) => {
        const groups = [0, 7, 14, 21, 28].map((shift) => ((times * 2) >>> shift) & 0x7f);
        return Buffer.from([...groups.slice(0, -1).map((group) => group | 0x80), groups.at(-1)!, value]);
      };
      const parts = [
        prefixed(Buffer.concat([run(0, 1), run(1, count)])),
        prefixed(run(3, count + 1)),
        Uint8Array.of(1),
        run(0, count + 1),
      ];
      const pages = [dictionaryPage(1, new Uint8Array(8)), firstPage(count + 1, 'RLE_DICTIONARY', ...parts)];
      return decoded(dir, rawParquet(1, [{ name: 'x', type: 'INT64', isList: true, pages }]), f.ids());
    },
  ],
  groupRows: [
    async (dir: string) => {
      const file = join(dir, 'x.parquet');
      const pages = [firstPage(1, 'PLAIN', new Uint8Array(8))];
      writeFileSync(file, rawParquet(over('groupRows'), [{ name: 'x', type: 'INT64', pages }]));
      for await (const rows of Dataset.from(file).batches(1)) t.fail(`${rows.length} rows`);
    },
  ],
} as const;
