import t from 'tap';
import { ProtoWriter } from '../../src/io/proto-writer.js';
import { extractSlot } from '../../src/sparse/config/extract-slot.js';
import { fidV1, fidV2 } from '../../src/sparse/config/fid.js';
import { lookupGradient } from '../../src/sparse/steps/lookup-gradient.js';
import { Tensor } from '../../src/tensor/tensor.js';

t.test('a pooled gradient goes back to each id that was pooled', async (t) => {
  const indices = Tensor.of('int64', [
    [0, 0],
    [2, 0],
    [2, 1],
  ]);
  const ids = Tensor.of('int64', [5, 6, 5]);
  const grads = Tensor.of('float32', [
    [1, 2],
    [3, 4],
    [5, 6],
  ]);
  const found = lookupGradient(indices, ids, grads);
  t.equal(found.ids, ids);
  t.same(found.grads.toArray(), [
    [1, 2],
    [5, 6],
    [5, 6],
  ]);
  t.throws(() => lookupGradient(indices, Tensor.of('int64', [5]), grads), { code: 'ML_OP' });
  t.throws(() => lookupGradient(Tensor.of('int64', [[3]]), Tensor.of('int64', [5]), grads), { code: 'ML_OP' });
});

t.test('the slot of an entry is read from its id', async (t) => {
  const entry = (id: bigint) => {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, id, true);
    return new ProtoWriter().floatField(2, 1).tag(1, 1).raw(bytes).finish();
  };
  t.equal(extractSlot(entry(fidV2(300, 7n))), 300);
  t.equal(extractSlot(entry(fidV1(700, 7n)), { fidV2: false }), 700);
  t.equal(extractSlot(new Uint8Array(0)), 0);
});
