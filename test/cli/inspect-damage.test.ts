import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { recordBytes } from '../io/snappy-stream.js';
import { inspect, makeModelDir, payloadsOf, RECORD, USER_FILE } from './inspect-helpers.js';

t.test('damage is told with file and record, and nothing half-read is shown', async (t) => {
  const dir = await makeModelDir(t);
  const assets = join(dir, 'model.ckpt-20.assets');
  const file = join(assets, USER_FILE);
  const whole = readFileSync(file);
  const put = (change: (bytes: Buffer) => Uint8Array) => writeFileSync(file, change(Buffer.from(whole)));
  const flip = (at: number) => (bytes: Buffer) => {
    bytes[at]! ^= 1;
    return bytes;
  };
  const cases: [string, (bytes: Buffer) => Uint8Array, RegExp][] = [
    ['a flipped payload', flip(RECORD * 2 + 30), /record 2, payload checksum/],
    ['a flipped length', flip(RECORD), /record 1, length checksum/],
    ['a cut record', (bytes) => bytes.subarray(0, RECORD * 3 + 5), /record 3, length: file ends/],
    ['a missing record', (bytes) => bytes.subarray(0, RECORD * 4), /size: has 304 bytes, 380 were written/],
    ['a row twice', (bytes) => Buffer.concat([bytes.subarray(0, RECORD), bytes.subarray(0, RECORD * 4)]), /checksum/],
  ];
  for (const [name, change, reason] of cases) {
    put(change);
    const ended = await inspect(dir);
    t.match(
      ended,
      { code: 1, out: '', err: /ML_CKPT_CORRUPT: checkpoint file .*user-0-x-00000-of-00001 is damaged/ },
      name,
    );
    t.match(ended.err, reason, name);
    t.match(ended.err, /hint: --quick shows/, name);
  }
  put((bytes) => bytes);
  const other = payloadsOf([{ dim: 9, optimizer: 'sgd' }], [1n]);
  const mixed = t.testdir({ 'x-00000-of-00001': '' });
  const rows = [...payloadsOf([{ dim: 2, optimizer: 'sgd' }], [1n, 2n]), ...other];
  writeFileSync(join(mixed, 'x-00000-of-00001'), await recordBytes(rows));
  t.match(await inspect(mixed), { code: 1, err: /x-00000-of-00001 is damaged: record 2/ }, 'a row of another shape');
  writeFileSync(join(mixed, 'x-00000-of-00001'), await recordBytes([Uint8Array.of(0xff, 0xff)]));
  t.match(await inspect(mixed), { code: 1, err: /x-00000-of-00001 is damaged: record 0/ }, 'not a row at all');
  writeFileSync(join(mixed, 'x-00000-of-00003'), await recordBytes(rows));
  t.match(await inspect(mixed), { code: 1, err: /ML_CKPT_SHARDS/ }, 'shards of two sets');
});

t.test('dense values are verified too, and a missing table file is told', async (t) => {
  const dir = await makeModelDir(t);
  const data = join(dir, 'model.ckpt-20.data-00000-of-00001');
  const bytes = readFileSync(data);
  bytes[0]! ^= 1;
  writeFileSync(data, bytes);
  t.match(await inspect(dir), { code: 1, err: /ML_CKPT_CORRUPT.*data-00000-of-00001.*[Cc]hecksum/ });
  const copy = `${dir}-copy`;
  cpSync(join(dir), copy, { recursive: true });
  rmSync(join(copy, 'model.ckpt-20.assets', USER_FILE));
  t.match(await inspect(copy), { code: 1, err: /ML_CKPT_CORRUPT.*user-0-x-00000-of-00001 is damaged: .*missing/ });
});
