import { appendFileSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BlockCache } from '../../src/data/cache/block-cache.js';
import { type CachedBlock, decodeBlock, encodeBlock } from '../../src/data/cache/block-codec.js';
import { Dataset } from '../../src/data/dataset.js';
import { f } from '../../src/data/fields.js';
import { defineSchema } from '../../src/data/schema.js';
import { Estimator } from '../../src/train/estimator/estimator.js';
import { lr } from '../../src/zoo/lr.js';

const BLOCKS: CachedBlock[] = [
  {
    rows: 2,
    feeds: [
      { kind: 'dense', values: Float32Array.of(1.5, -2, 3) },
      { kind: 'ids', values: BigInt64Array.of(-1n, 2n ** 62n) },
      { kind: 'ragged', splits: Int32Array.of(0, 3, 3), values: BigInt64Array.of(5n, 6n, 7n) },
      undefined,
    ],
    keys: BigInt64Array.of(9n, 8n),
    numbers: { count: 4, offsets: [1, 3] },
  },
  { rows: 0, feeds: [], keys: undefined },
  { rows: 1, feeds: [{ kind: 'dense', values: Float32Array.of(7) }], keys: undefined },
];

/** Blocks as they are read, with how often the files were parsed. */
function reading(cache: BlockCache, blocks = BLOCKS) {
  let parsed = 0;
  const ends: unknown[] = [];
  const parse = async function* () {
    parsed++;
    yield* blocks;
  };
  const read = async () => {
    const found: CachedBlock[] = [];
    for await (const block of cache.through(
      parse,
      () => ({ rows: 3 }),
      (end) => ends.push(end),
    ))
      found.push(block);
    return found;
  };
  return { read, ends, times: () => parsed };
}

/** Warnings of the process while `body` runs. */
async function warningsOf(body: () => Promise<unknown>): Promise<string[]> {
  const found: string[] = [];
  const note = (warning: Error) => found.push(`${(warning as { code?: string }).code} ${warning.message}`);
  process.on('warning', note);
  await body();
  await new Promise((done) => setImmediate(done));
  process.off('warning', note);
  return found;
}

t.test('a block comes back as it was, of any feeds', async (t) => {
  for (const block of BLOCKS) t.same(decodeBlock(new Uint8Array(encodeBlock(block))), block);
});

t.test('what was parsed once comes out of the file, until the data changes', async (t) => {
  const dir = t.testdir({ 'a.csv': 'x\n1\n' });
  const files = [join(dir, 'a.csv')];
  const first = reading(new BlockCache({ files, how: 1 }));
  t.same(await first.read(), BLOCKS);
  t.same(await first.read(), BLOCKS, 'the second pass');
  t.equal(first.times(), 1);
  t.same(first.ends, [{ rows: 3 }], 'what was found out is told as well');
  const cache = new BlockCache({ files, how: 1 });
  const second = reading(cache);
  t.same(await second.read(), BLOCKS);
  t.same([second.times(), cache.found?.state, cache.found?.bytes], [0, 'used', readFileSync(cache.found!.file).length]);
  const named = readdirSync(join(dir, '.monolith-cache'));
  t.equal(named.length, 1, 'one file, no temporary ones');
  const other = reading(new BlockCache({ files, how: 2 }));
  await other.read();
  t.equal(other.times(), 1, 'read in another way');
  appendFileSync(files[0]!, '2\n');
  t.same(await second.read(), BLOCKS);
  t.equal(second.times(), 1, 'a file that is longer, noticed by a reader that has it open');
  utimesSync(files[0]!, 1, 1);
  await second.read();
  t.equal(second.times(), 2, 'a file of another time');
  t.ok(readdirSync(join(dir, '.monolith-cache')).length <= 4, 'old ones go');
});

t.test('whatever is wrong with the file, rows are parsed and it is made anew', async (t) => {
  const dir = t.testdir({ 'a.csv': 'x\n1\n' });
  const given = { files: [join(dir, 'a.csv')], how: 1, dir: join(dir, 'kept') };
  const made = new BlockCache(given);
  await reading(made).read();
  const { file } = made.found!;
  const good = readFileSync(file);
  for (let at = 0; at < good.length; at += 29) {
    for (const damaged of [good.subarray(0, at), Buffer.concat([good, good.subarray(0, at + 1)]), flipped(good, at)]) {
      writeFileSync(file, damaged);
      const { read, times } = reading(new BlockCache(given));
      const warnings = await warningsOf(async () => t.same(await read(), BLOCKS, `byte ${at}`));
      t.equal(times(), 1);
      t.match(warnings, [/ML_CACHE cache of parsed rows: .* is damaged and made anew/]);
      if (!readFileSync(file).equals(good)) t.fail(`not made anew after byte ${at}`);
    }
  }
});

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 1 << (at % 8);
  return copy;
}

t.test('a folder that cannot be written, a reader that leaves off, and files that change leave nothing', async (t) => {
  const dir = t.testdir({ 'a.csv': 'x\n1\n', file: '' });
  const files = [join(dir, 'a.csv')];
  const blocked = reading(new BlockCache({ files, how: 1, dir: join(dir, 'file', 'inside') }));
  const warnings = await warningsOf(async () => t.same(await blocked.read(), BLOCKS));
  t.match(warnings, [/ML_CACHE .*cannot be read/]);
  for await (const _ of new BlockCache({ files, how: 1 }).through(
    async function* () {
      yield* BLOCKS;
    },
    () => 0,
  )) {
    break;
  }
  t.same(readdirSync(join(dir, '.monolith-cache')), []);
  const changing = async function* () {
    yield BLOCKS[0]!;
    appendFileSync(files[0]!, '3\n');
  };
  const cache = new BlockCache({ files, how: 1 });
  const changed = await warningsOf(async () => {
    for await (const _ of cache.through(changing, () => 0));
  });
  t.match(changed, [/changed while they were read/]);
  t.same([readdirSync(join(dir, '.monolith-cache')), cache.found], [[], undefined]);
});

t.test('two that make it at once give the same, and old temporary files are removed', async (t) => {
  const dir = t.testdir({ 'a.csv': 'x\n1\n' });
  const given = { files: [join(dir, 'a.csv')], how: 1 };
  const both = [reading(new BlockCache(given)), reading(new BlockCache(given))];
  t.same(await Promise.all(both.map(({ read }) => read())), [BLOCKS, BLOCKS]);
  const kept = join(dir, '.monolith-cache');
  const [name] = readdirSync(kept);
  t.equal(readdirSync(kept).length, 1);
  const left = join(kept, `${name}.tmp${'0'.repeat(32)}`);
  writeFileSync(left, 'killed');
  utimesSync(left, 1, 1);
  await reading(new BlockCache({ ...given, how: 2 })).read();
  t.notOk(readdirSync(kept).includes(`${name}.tmp${'0'.repeat(32)}`));
});

t.test('an estimator trains on kept rows as on parsed ones, in every order', async (t) => {
  const dir = t.testdir({});
  const file = join(dir, 'clicks.csv');
  const lines = Array.from({ length: 3000 }, (_, n) => `${n % 7},${n % 11 === 3 ? 'what' : n % 11},${n % 3 ? 0 : 1}`);
  writeFileSync(file, `user,x,click\n${lines.join('\n')}\n`);
  const schema = defineSchema({ user: f.id(), x: f.number(), click: f.label() });
  const train = async (data: Dataset) => {
    const estimator = new Estimator(lr(schema), { threads: 1, batchSize: 32, seed: 1, deterministic: true });
    const { loss, step } = await estimator.train(data as never, { epochs: 2 });
    await estimator.close();
    return [loss, step];
  };
  const rows = () => Dataset.from(file, schema, { badRows: 'skip' }) as never as Dataset;
  const ways = [
    (data: Dataset) => data,
    (data: Dataset) => data.shuffle(500, { seed: 3 }),
    (data: Dataset) => data.split({ test: 0.3, by: 'row' }).train,
    (data: Dataset) => data.split({ test: 0.3, by: 'user' }).test,
  ];
  const kept = join(dir, 'kept');
  for (const way of ways) {
    const plain = await train(way(rows()));
    for (const state of ['made', 'used']) {
      const data = way(rows().cache(kept));
      t.same(await train(data), plain, state);
      t.ok(['made', 'used'].includes(data.findings.cache!.state));
      t.equal(data.findings.badRows, 2 * lines.filter((line) => line.includes('what')).length);
    }
  }
  t.equal(readdirSync(kept).length, 2, 'one for all, and one with hashes of the column that parts rows');
});

t.test('rows that cannot be known again are refused, and those of functions are told of', async (t) => {
  t.throws(() => Dataset.from([{ a: 1 }]).cache(), { code: 'ML_DATASET', message: /a program cannot be known again/ });
  t.throws(() => Dataset.from('-').cache(), { code: 'ML_DATASET', message: /standard input/ });
  const dir = t.testdir({ 'a.csv': 'user,click\n1,0\n2,1\n' });
  t.throws(() => Dataset.from(join(dir, 'a.csv')).cache(5 as never), { code: 'ML_OPTION' });
  const schema = defineSchema({ user: f.id(), click: f.label() });
  const data = Dataset.from(join(dir, 'a.csv'), schema)
    .cache()
    .filter(() => true);
  const warnings = await warningsOf(async () => {
    const estimator = new Estimator(lr(schema), { threads: 1 });
    await estimator.train(data as never, { epochs: 1 });
    await estimator.close();
  });
  t.match(warnings.join('\n'), /ML_CACHE cache of parsed rows: nothing is kept/);
  t.notOk(readdirSync(dir).includes('.monolith-cache'));
});
