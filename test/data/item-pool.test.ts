import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ItemPool } from '../../src/data/item-pool.js';

const gids = (items: readonly { readonly gid: bigint }[]) => items.map(({ gid }) => gid);

t.test('a channel keeps its newest items, each once, and draws different ones', async (t) => {
  const pool = new ItemPool({ itemsPerChannel: 3, startCount: 2, seed: 5 });
  pool.add(1n, { gid: 10n });
  t.same([pool.draw(1n, 2), pool.draw(9n, 2)], [[], []], 'too few yet, and a channel nobody knows');
  for (const gid of [11n, 12n, 10n, 13n]) pool.add(1n, { gid, fids: BigInt64Array.of(gid) });
  t.same(gids(pool.items(1n)), [12n, 10n, 13n]);
  t.equal(pool.items(1n)[1]!.originCnt, 2n);
  t.same(gids(pool.draw(1n, 9)).sort(), [10n, 12n, 13n]);
  t.notOk(gids(pool.draw(1n, 9, 12n)).includes(12n));
  t.same(
    pool.items(1n).map(({ sampleCnt }) => sampleCnt),
    [1n, 2n, 2n],
  );
  const other = new ItemPool({ itemsPerChannel: 3, startCount: 2, seed: 5 });
  for (const gid of [13n, 12n, 10n]) other.add(1n, { gid });
  const first = () => gids(other.draw(1n, 1))[0];
  t.ok(new Set(Array.from({ length: 50 }, first)).size === 3, 'all of them come');
});

t.test('its files are one for each shard, and come back in any number of them', async (t) => {
  const dir = t.testdir({});
  const prefix = join(dir, 'model.ckpt-7');
  const pool = new ItemPool();
  for (let channel = -2n; channel < 5n; channel++) {
    const feature = { fidV2List: { value: BigInt64Array.of(channel) } };
    const featureColumns = [{ name: 'f', feature, id: 0, sortedId: 0 }];
    pool.add(channel, { gid: channel + 100n, fids: BigInt64Array.of(1n, -1n), featureColumns });
  }
  t.same(
    pool.save(prefix, { worker: 1, workers: 2, shards: 3 }),
    [0, 1, 2].map((shard) => `${prefix}_item_pool_1_${shard}_2`),
  );
  t.equal(readdirSync(dir).length, 3, 'nothing else is left');
  const restored = new ItemPool();
  t.ok(restored.restore(prefix, { worker: 1, workers: 2 }));
  t.same([...restored.channels].sort(), [...pool.channels].sort());
  for (const channel of pool.channels) t.same(restored.items(channel), pool.items(channel));
  t.notOk(restored.restore(prefix), 'those of another worker');
  t.notOk(restored.restore(join(dir, 'none', 'model.ckpt-1')));
  const file = `${prefix}_item_pool_1_0_2`;
  const bytes = readFileSync(file);
  bytes[20]! ^= 1;
  writeFileSync(file, bytes);
  t.throws(() => new ItemPool().restore(prefix, { worker: 1, workers: 2 }), { code: 'ML_RECORD' });
  t.notOk(existsSync(`${file}_tmp`));
});

t.test('options that are none are refused', async (t) => {
  t.throws(() => new ItemPool({ itemsPerChannel: 0 }), { code: 'ML_OPTION', message: /itemsPerChannel/ });
  t.throws(() => new ItemPool({ perChannel: 1 } as never), { code: 'ML_OPTION', message: /perChannel/ });
  t.throws(() => new ItemPool().save('x', { worker: 2, workers: 2 }), { code: 'ML_OPTION', message: /worker 2 of 2/ });
});
