import fc from 'fast-check';
import t from 'tap';
import { hashU32, hashUniform, MersenneTwister } from '../../src/base/random.js';

t.test('the stream of the default seed begins with the published words', async (t) => {
  const random = new MersenneTwister();
  t.same([random.nextU32(), random.nextU32(), random.nextU32()], [3499211612, 581869302, 3890346734]);
  for (let i = 3; i < 9999; i++) random.nextU32();
  t.equal(random.nextU32(), 4123659995, 'the 10000th word, over many refills');
});

t.test('a bounded draw stays in its range and reaches both ends', async (t) => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 0, max: 0xffffffff }), (seed, range) => {
      const random = new MersenneTwister(seed);
      for (let i = 0; i < 20; i++) {
        const drawn = random.nextBounded(range);
        if (!(drawn >= 0 && drawn <= range && Number.isInteger(drawn))) return false;
      }
      return true;
    }),
  );
  const seen = new Set<number>();
  const random = new MersenneTwister(1);
  for (let i = 0; i < 200; i++) seen.add(random.nextBounded(4));
  t.same([...seen].sort(), [0, 1, 2, 3, 4]);
});

t.test('a bounded draw of one value leaves the stream where it was', async (t) => {
  const drawn = new MersenneTwister(3);
  const plain = new MersenneTwister(3);
  t.equal(drawn.nextBounded(0), 0);
  t.equal(drawn.nextU32(), plain.nextU32());
});

t.test('the hash depends on every argument and is spread evenly', async (t) => {
  const values = [
    hashU32(1, 2, 3, 4),
    hashU32(2, 2, 3, 4),
    hashU32(1, 3, 3, 4),
    hashU32(1, 2, 4, 4),
    hashU32(1, 2, 3, 5),
  ];
  t.equal(new Set(values).size, values.length);
  t.equal(hashU32(1, 2, 3, 4), values[0], 'and on nothing else');
  const bins = new Array<number>(16).fill(0);
  for (let i = 0; i < 16000; i++) bins[Math.floor(hashUniform(7, i) * 16)]!++;
  t.ok(Math.max(...bins) < 1150 && Math.min(...bins) > 850, bins.join(' '));
});
