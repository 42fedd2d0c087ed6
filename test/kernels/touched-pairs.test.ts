import fc from 'fast-check';
import t from 'tap';
import { mix64BigInt } from '../../src/memory/hash.js';
import { touchedGeometry } from '../../src/memory/touched-geometry.js';
import { TOUCHED_SCRATCH_BYTES } from '../../src/memory/touched-layout.js';
import { keyWithHash } from '../sparse/colliding-keys.js';
import { KernelHarness } from './harness.js';
import { ReferenceTouchedPairSet } from './plain-touched.js';

const harness = await KernelHarness.create();

interface Touched {
  id: bigint;
  table: number;
}

/** The id that has the place of `keyWithHash(hash, index)` in the pairs of a table. */
export function idWithHash(table: number, hash: number, index: number): bigint {
  return BigInt.asIntN(64, keyWithHash(hash, index) ^ mix64BigInt(BigInt(table) + 1n));
}

/** A kernel set and its reference, driven together. */
class Both {
  readonly reference: ReferenceTouchedPairSet;
  readonly set: number;
  readonly #scratch: number;

  constructor(capacity: number, concurrencyLevel: number) {
    const g = touchedGeometry(capacity, concurrencyLevel, 1, 'pair');
    this.reference = new ReferenceTouchedPairSet(g);
    this.set = harness.arena.alloc(g.bytes, 'set');
    harness.views.u8.fill(0xa5, this.set, this.set + g.bytes);
    const end = harness.wasm.createTouchedPairs(this.set, capacity, g.buckets, g.locks, g.overflowSlots, 1);
    if (end !== this.set + g.bytes) throw new Error(`the set ends at ${end}, not ${this.set + g.bytes}`);
    this.#scratch = harness.alloc(TOUCHED_SCRATCH_BYTES);
  }

  insert(ids: readonly bigint[], table: number): { kernel: number; reference: number } {
    const kernel = harness.scope(() =>
      harness.wasm.insertTouchedPairs(this.set, harness.putI64(ids), ids.length, table, this.#scratch),
    );
    return { kernel, reference: this.reference.insert(ids, table) };
  }

  steal(): { kernel: Touched[]; reference: Touched[] } {
    const count = harness.wasm.beginStealPairs(this.set);
    const at = harness.wasm.stolenTouchedKeys(this.set) >>> 0;
    const kernel = Array.from({ length: count }, (_, i) => ({
      id: harness.views.i64[at / 8 + i * 2]!,
      table: harness.views.u32[at / 4 + i * 4 + 2]!,
    }));
    if (count > 0) harness.wasm.endStealPairs(this.set);
    return { kernel, reference: this.reference.steal() };
  }
}

/** Tables that are near, far and last, and ids that collide in the first of them, with extremes. */
const anyTable = fc.constantFrom(0, 1, 2, 2 ** 32 - 2);
const anyId = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom(3, 7, 11, 35), fc.nat(40)).map(([h, i]) => idWithHash(0, h, i)) },
  { weight: 2, arbitrary: fc.bigInt({ min: -3n, max: 20n }) },
  { weight: 1, arbitrary: fc.constantFrom(0n, -1n, -(1n << 63n), (1n << 63n) - 1n) },
);
type Step = { ids: bigint[]; table: number } | 'steal';
const anySteps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ ids: fc.array(anyId, { maxLength: 300, size: 'max' }), table: anyTable }),
    },
    { weight: 1, arbitrary: fc.constant<Step>('steal') },
  ),
  { minLength: 1, maxLength: 8 },
);

t.test('the kernel places, drops and drains pairs as its reference does, in the same order', async (t) => {
  let overflowed = 0;
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.constantFrom(1, 3, 64, 1024), anySteps, (capacity, locks, steps) =>
      harness.scope(() => {
        const both = new Both(capacity, locks);
        for (const step of [...steps, 'steal' as const]) {
          const done = step === 'steal' ? both.steal() : both.insert(step.ids, step.table);
          t.same(done.kernel, done.reference);
          t.equal(harness.wasm.countTouchedKeys(both.set), both.reference.size);
          t.equal(harness.wasm.countTouchedOverflow(both.set), both.reference.overflowCount);
          overflowed += Math.sign(both.reference.overflowCount);
          if (!t.passing()) throw new Error('kernel and reference differ');
        }
      }),
    ),
    { numRuns: 60 },
  );
  t.ok(overflowed > 0, 'the overflow set was used');
});

const keyOf = ({ id, table }: Touched) => `${id} of ${table}`;

t.test('the set is a plain map of pairs that empties itself when an insert finds it over capacity', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 47 }), anySteps, (capacity, steps) =>
      harness.scope(() => {
        const both = new Both(capacity, 16);
        const model = new Map<string, Touched>();
        for (const step of [...steps, 'steal' as const]) {
          if (step === 'steal') {
            t.same(both.steal().kernel.map(keyOf).sort(), [...model.keys()].sort());
            model.clear();
            continue;
          }
          let dropped = 0;
          for (const id of step.ids) {
            if (model.size > capacity) {
              dropped += model.size;
              model.clear();
            }
            model.set(keyOf({ id, table: step.table }), { id, table: step.table });
          }
          t.equal(both.insert(step.ids, step.table).kernel, dropped);
          if (!t.passing()) throw new Error('kernel and model differ');
        }
      }),
    ),
    { numRuns: 60 },
  );
});

t.test('an id in two tables is two keys, and tables spread the keys of one id', async (t) => {
  harness.scope(() => {
    const both = new Both(1000, 4);
    for (let table = 0; table < 200; table++) both.insert([5n], table);
    both.insert([5n], 7);
    t.equal(harness.wasm.countTouchedKeys(both.set), 200);
    t.equal(harness.wasm.countTouchedOverflow(both.set), 0, 'their neighbourhoods are not one');
    t.same(new Set(both.steal().kernel.map(({ table }) => table)).size, 200);
  });
});
