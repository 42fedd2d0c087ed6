import fc from 'fast-check';
import t from 'tap';
import { nextPow2, touchedGeometry } from '../../src/memory/touched-geometry.js';
import { TOUCHED_SCRATCH_BYTES } from '../../src/memory/touched-layout.js';
import { idsOfOneBucket, keyWithHash, longestRun } from '../sparse/colliding-keys.js';
import { KernelHarness } from './harness.js';
import { hashKey, ReferenceTouchedKeySet } from './plain-touched.js';

const harness = await KernelHarness.create();

/** A kernel set and its reference, driven together. */
class Pair {
  readonly reference: ReferenceTouchedKeySet;
  readonly set: number;
  readonly #scratch: number;

  constructor(capacity: number, concurrencyLevel: number) {
    const g = touchedGeometry(capacity, concurrencyLevel, 1);
    this.reference = new ReferenceTouchedKeySet(g);
    this.set = harness.arena.alloc(g.bytes, 'set');
    // Memory is handed out as it is; the first insert must not trust it.
    harness.views.u8.fill(0xa5, this.set, this.set + g.bytes);
    const end = harness.wasm.createTouchedKeys(this.set, capacity, g.buckets, g.locks, g.overflowSlots, 1);
    if (end !== this.set + g.bytes) throw new Error(`the set ends at ${end}, not ${this.set + g.bytes}`);
    this.#scratch = harness.alloc(TOUCHED_SCRATCH_BYTES);
  }

  insert(keys: readonly bigint[]): { kernel: number; reference: number } {
    const kernel = harness.scope(() =>
      harness.wasm.insertTouchedKeys(this.set, harness.putI64(keys), keys.length, this.#scratch),
    );
    return { kernel, reference: this.reference.insert(keys) };
  }

  steal(): { kernel: bigint[]; reference: bigint[] } {
    return harness.scope(() => {
      const room = this.reference.size;
      const out = harness.alloc(room * 8);
      const count = harness.wasm.stealTouchedKeys(this.set, out, room);
      return { kernel: [...harness.i64(out, Math.max(0, count))], reference: [...this.reference.steal()] };
    });
  }
}

const sorted = (keys: Iterable<bigint>) => [...keys].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));

/** Small numbers, extremes, and keys of a few neighbouring buckets, so that neighbourhoods fill and entries move. */
const anyKey = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom(3, 7, 11, 35), fc.nat(40)).map(([h, i]) => keyWithHash(h, i)) },
  { weight: 1, arbitrary: fc.bigInt({ min: -3n, max: 60n }) },
  { weight: 1, arbitrary: fc.constantFrom(0n, -1n, 1n << 62n, -(1n << 63n), (1n << 63n) - 1n) },
);
type Step = { insert: bigint[] } | 'steal';
const anySteps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.array(anyKey, { maxLength: 300, size: 'max' }).map((insert) => ({ insert })) },
    { weight: 1, arbitrary: fc.constant<Step>('steal') },
  ),
  { minLength: 1, maxLength: 8 },
);

t.test('the kernel places, drops and drains as its reference does, in the same order', async (t) => {
  let overflowed = 0;
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.constantFrom(1, 3, 64, 1024), anySteps, (capacity, locks, steps) =>
      harness.scope(() => {
        const pair = new Pair(capacity, locks);
        for (const step of [...steps, 'steal' as const]) {
          const done = step === 'steal' ? pair.steal() : pair.insert(step.insert);
          t.same(done.kernel, done.reference);
          t.equal(harness.wasm.countTouchedKeys(pair.set), pair.reference.size);
          t.equal(harness.wasm.countTouchedOverflow(pair.set), pair.reference.overflowCount);
          overflowed += Math.sign(pair.reference.overflowCount);
          if (!t.passing()) throw new Error('kernel and reference differ');
        }
      }),
    ),
    { numRuns: 60 },
  );
  t.ok(overflowed > 0, 'the overflow set was used');
});

t.test('the set is a plain set that empties itself when an insert finds it over capacity', async (t) => {
  fc.assert(
    // Up to 47, the overflow set has room for everything the set may hold.
    fc.property(fc.integer({ min: 1, max: 47 }), anySteps, (capacity, steps) =>
      harness.scope(() => {
        const pair = new Pair(capacity, 16);
        const model = new Set<bigint>();
        for (const step of [...steps, 'steal' as const]) {
          if (step === 'steal') {
            t.same(sorted(pair.steal().kernel), sorted(model));
            model.clear();
            continue;
          }
          let dropped = 0;
          for (const key of step.insert) {
            if (model.size > capacity) {
              dropped += model.size;
              model.clear();
            }
            model.add(key);
          }
          t.equal(pair.insert(step.insert).kernel, dropped);
          if (!t.passing()) throw new Error('kernel and model differ');
        }
      }),
    ),
    { numRuns: 60 },
  );
});

t.test('an entry makes room for a key of a full neighbourhood', async (t) => {
  harness.scope(() => {
    const pair = new Pair(100, 4);
    const low = Array.from({ length: 28 }, (_, i) => keyWithHash(3, i));
    const high = Array.from({ length: 6 }, (_, i) => keyWithHash(31, i));
    // Slots 3 to 36 are taken, the next free one is 34 from bucket 3; the entry at 31 can move there.
    pair.insert([...low, ...high, keyWithHash(3, 28)]);
    t.equal(harness.wasm.countTouchedOverflow(pair.set), 0);
    const { kernel, reference } = pair.steal();
    t.same(kernel, reference);
    t.equal(kernel[28], keyWithHash(3, 28), 'the new key has the place of the moved one');
    t.equal(kernel.at(-1), keyWithHash(31, 0), 'the moved entry is last');
  });
});

t.test('a key with no way into its neighbourhood is kept once, in the overflow set', async (t) => {
  harness.scope(() => {
    const pair = new Pair(100, 4);
    const keys = Array.from({ length: 40 }, (_, i) => keyWithHash(7, i));
    pair.insert(keys);
    pair.insert(keys);
    t.equal(harness.wasm.countTouchedOverflow(pair.set), 8);
    t.equal(harness.wasm.countTouchedKeys(pair.set), 40);
    t.same(sorted(pair.steal().kernel), sorted(keys));
    // The slots claimed on the way to the overflow set are free again.
    pair.insert([keyWithHash(39, 0)]);
    t.same(pair.steal().kernel, [keyWithHash(39, 0)]);
  });
});

t.test('a full stretch of 4096 slots sends keys to the overflow set', async (t) => {
  harness.scope(() => {
    const pair = new Pair(20_000, 64);
    const keys = Array.from({ length: 1300 }, (_, b) => Array.from({ length: 4 }, (_, i) => keyWithHash(4 * b, i)));
    pair.insert([...keys.flat(), ...Array.from({ length: 40 }, (_, i) => keyWithHash(0, 10 + i))]);
    t.ok(harness.wasm.countTouchedOverflow(pair.set) > 0);
    const { kernel, reference } = pair.steal();
    t.equal(kernel.length, 5240);
    t.same(kernel, reference);
  });
});

t.test('a full overflow set clears everything and counts it as dropped', async (t) => {
  harness.scope(() => {
    const pair = new Pair(1000, 4);
    const keys = Array.from({ length: 32 + 48 + 5 }, (_, i) => keyWithHash(11, i));
    t.same(pair.insert(keys), { kernel: 80, reference: 80 });
    t.same(sorted(pair.steal().kernel), sorted(keys.slice(80)));
    t.equal(harness.wasm.countTouchedClears(pair.set), 1);
  });
});

t.test('a steal into too small a buffer takes nothing', async (t) => {
  harness.scope(() => {
    const pair = new Pair(100, 4);
    pair.insert([1n, 2n, 3n]);
    t.equal(harness.wasm.stealTouchedKeys(pair.set, harness.alloc(16), 2), -2);
    t.equal(harness.wasm.countTouchedKeys(pair.set), 3);
    t.same(sorted(pair.steal().kernel), [1n, 2n, 3n]);
  });
});

t.test('nothing but the header and lane locks is written before the first key', async (t) => {
  harness.scope(() => {
    const pair = new Pair(1000, 4);
    t.equal(harness.wasm.countTouchedKeys(pair.set), 0);
    t.same(pair.insert([]), { kernel: 0, reference: 0 });
    t.same(pair.steal().kernel, []);
    const end = pair.set + pair.reference.geometry.bytes;
    t.ok(
      harness.views.u8.subarray(pair.set + 260, end).every((byte) => byte === 0xa5),
      'the memory is as it was handed out',
    );
  });
});

t.test('hashes keep clear of the marks of a free slot, and powers of two round up', async (t) => {
  fc.assert(fc.property(fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }), (key) => (hashKey(key) & 3) === 3));
  t.same([1, 2, 3, 4, 5, 1000, 1024, 1025, 2 ** 31 + 1].map(nextPow2), [1, 2, 4, 4, 8, 1024, 1024, 2048, 2 ** 32]);
});

t.test('ids made to meet by the public hash each have a place, in a set of ids and in its reference', async (t) => {
  const pair = new Pair(1 << 16, 64);
  const keys = idsOfOneBucket(8000);
  t.same(pair.insert(keys), { kernel: 0, reference: 0 });
  t.equal(harness.wasm.countTouchedOverflow(pair.set), 0);
  t.equal(harness.wasm.countTouchedKeys(pair.set), keys.length);
});

t.test('keys that met and overflowed do not meet among what overflowed', async (t) => {
  const capacity = 1 << 16;
  const pair = new Pair(capacity, 64);
  const keys = Array.from({ length: 2000 }, (_, i) => keyWithHash(0, i << 8));
  t.same(pair.insert(keys), { kernel: 0, reference: 0 });
  t.ok(harness.wasm.countTouchedOverflow(pair.set) > 1900);
  // Words 9 and 10 of the header: the overflow set and its mask. A slot has its hash in the third of four words.
  const { u32 } = harness.views;
  const [overflow, mask] = [u32[pair.set / 4 + 9]!, u32[pair.set / 4 + 10]!];
  const run = longestRun(mask + 1, (place) => u32[overflow / 4 + place * 4 + 2] !== 0);
  t.ok(run < 500, `${run} places in a row`);
  const stolen = pair.steal();
  t.same(stolen.kernel, stolen.reference);
  t.same(sorted(stolen.kernel), sorted(keys));
});
