import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import {
  checkedFidV2,
  convertFidsV1ToV2,
  fidDebugString,
  fidV1,
  fidV1ToV2,
  fidV2,
  signatureOfFidV1,
  signatureOfFidV2,
  slotOfFidV1,
  slotOfFidV2,
  slotsOfFids,
  switchSlot,
} from '../../src/sparse/config/fid.js';

const any64 = fc.bigInt({ min: -(1n << 63n), max: (1n << 64n) - 1n });

t.test('an id gives back the slot and signature it was made of, in both versions', async () => {
  fc.assert(
    fc.property(fc.nat(1023), fc.nat(32767), any64, (slot1, slot2, signature) => {
      const one = fidV1(slot1, signature);
      assert.deepEqual([slotOfFidV1(one), signatureOfFidV1(one)], [slot1, BigInt.asUintN(54, signature)]);
      const two = fidV2(slot2, signature);
      assert.deepEqual([slotOfFidV2(two), signatureOfFidV2(two)], [slot2, BigInt.asUintN(48, signature)]);
      assert.equal(checkedFidV2(two), two);
      assert.equal(fidV1ToV2(one), fidV2(slot1, signature));
      assert.equal(switchSlot(one, 5, 1), fidV1(5, signature));
      assert.equal(switchSlot(two, 5, 2), fidV2(5, signature));
    }),
  );
});

t.test('forms over arrays are those over single ids, signed or not', async () => {
  fc.assert(
    fc.property(fc.array(any64), (values) => {
      const fids = BigInt64Array.from(values);
      assert.deepEqual([...slotsOfFids(fids, 1)], values.map(slotOfFidV1));
      assert.deepEqual([...slotsOfFids(fids, 2)], values.map(slotOfFidV2));
      const converted = values.map((fid) => BigInt.asIntN(64, fidV1ToV2(fid)));
      assert.deepEqual([...convertFidsV1ToV2(fids)], converted);
      assert.deepEqual([...convertFidsV1ToV2(fids, fids)], converted);
    }),
  );
});

t.test('a slot that does not fit is refused in the wording of the reference', async (t) => {
  const code = 'ML_FID_SLOT';
  t.throws(() => fidV1(1024, 0n), { code, message: 'slot should be less than 1024, while got 1024' });
  t.throws(() => fidV2(32768, 0n), { code, message: 'slot should be less than 32768, while got 32768' });
  t.throws(() => checkedFidV2(-1n), { code, message: 'slot should be less than 32768, while got 65535' });
  t.throws(() => fidV1(-1, 0n), { code });
  t.throws(() => switchSlot(1n, 1.5, 2), { code });
});

t.test('debug forms name version, slot and signature', async (t) => {
  t.equal(fidDebugString(fidV1(1023, 9n), 1), '18428729675200069641(v1|slot=1023|sig=9)');
  t.equal(fidDebugString(BigInt.asIntN(64, fidV1(1023, 9n)), 1), '18428729675200069641(v1|slot=1023|sig=9)');
  t.equal(fidDebugString(fidV2(3, 7n), 2), '844424930131975(v2|slot=3|sig=7)');
});
