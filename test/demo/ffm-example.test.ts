import t from 'tap';
import { MersenneTwister } from '../../src/base/random.js';
import { ffmSchema, generateFfmExample, slotToKey } from '../../src/demo/ffm-example.js';

t.test('the first example of seed 0 is the reference one', async (t) => {
  const example = generateFfmExample(new MersenneTwister(0), [5, 5, 5, 5, 5, 5]);
  t.equal(example.label, 0);
  t.same(example.ids, [
    [0n, 3n, 3n, 3n, 1n],
    [7n, 9n, 5n, 5n],
    [12n, 11n, 10n, 11n, 11n],
    [16n],
    [23n, 20n, 23n, 20n, 22n],
    [25n, 26n, 28n, 28n],
  ]);
});

t.test('slots of different sizes keep to their own range of ids', async (t) => {
  const random = new MersenneTwister(4);
  const vocabSizes = [3, 1, 0x100000000, 7];
  for (let i = 0; i < 200; i++) {
    const { ids } = generateFfmExample(random, vocabSizes, 3);
    if (ids.length !== vocabSizes.length) t.fail(`${ids.length} slots`);
    ids.forEach((list, slot) => {
      const first = 0x100000000n * BigInt(slot);
      if (list.length < 1 || list.length > 3) t.fail(`slot ${slot} has ${list.length} ids`);
      for (const id of list) if (id < first || id >= first + BigInt(vocabSizes[slot]!)) t.fail(`slot ${slot} id ${id}`);
    });
  }
});

t.test('the feeds are the label and one feature per slot', async (t) => {
  t.equal(slotToKey(3), 'feature_3');
  t.same(
    ffmSchema().map((feed) => `${feed.kind} ${feed.name}`),
    ['dense label', ...[0, 1, 2, 3, 4, 5].map((i) => `ragged feature_${i}`)],
  );
});
