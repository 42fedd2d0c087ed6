import fc from 'fast-check';
import t from 'tap';
import { createKernelPacker } from '../../src/runtime/backends/wasm/kernel-packer.js';
import { copyNested } from '../../src/tensor/copy-nested.js';
import { RaggedTensor } from '../../src/tensor/ragged-tensor.js';
import { type DType, Tensor } from '../../src/tensor/tensor.js';
import { packTensors } from '../../src/tensor/tensor-utils.js';
import { KernelHarness } from '../kernels/harness.js';

const h = await KernelHarness.create(4 << 20);

t.test('packing by the kernel gives what plain packing gives, wherever the tensors lie', async (t) => {
  const packer = createKernelPacker(h.wasm, h.memory, h.arena);
  for (const dtype of ['float32', 'int64', 'uint8', 'float64'] as const satisfies readonly DType[]) {
    const tensors = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => {
        const values = Array.from({ length: (i * 7) % 40 }, (_, j) => i + j);
        const own = Tensor.of(dtype, values);
        if (i % 5 === 0) return [`k${i}`, own];
        const shared = packer.allocate(dtype, values.length);
        packer.copy([{ source: own.data, target: shared }]);
        return [`k${i}`, new Tensor<DType>(dtype, [values.length], shared)];
      }),
    );
    const packed = packTensors(tensors, packer);
    t.same(packed.packed.toArray(), packTensors(tensors).packed.toArray());
    t.equal(packed.packed.data.buffer, h.memory.buffer, 'the result lies in the shared memory');
  }
});

t.test('a structure is copied by one call of the kernel, whatever its tensors are', async (t) => {
  const packer = createKernelPacker(h.wasm, h.memory, h.arena);
  const tensor = fc
    .tuple(fc.constantFrom<DType>('float32', 'int64', 'uint8', 'bool', 'float64', 'int32'), fc.nat(37), fc.boolean())
    .map(([dtype, size, shared]) => {
      const own = Tensor.of(
        dtype,
        Array.from({ length: size }, (_, i) => i % 2),
      );
      if (!shared) return own;
      const data = packer.allocate<DType>(dtype, size);
      packer.copy([{ source: own.data, target: data }]);
      return new Tensor<DType>(dtype, [size], data);
    });
  const rows = fc.array(fc.array(fc.nat(9), { maxLength: 5 }), { maxLength: 4 });
  const ragged = rows.map((list) => RaggedTensor.fromRows('int64', list));
  const mark = h.arena.mark();
  fc.assert(
    fc.property(fc.array(tensor), fc.dictionary(fc.string(), ragged, { noNullPrototype: true }), (dense, dict) => {
      const input = { dense, dict, name: 'kept', none: null };
      const copied = copyNested(input, packer);
      t.same(copied, input);
      const all = [...copied.dense, ...Object.values(copied.dict).flatMap((r) => [r.values as Tensor, r.rowSplits])];
      t.ok(all.every(({ data }) => data.buffer === h.memory.buffer));
      t.notOk(copied.dense.some((item, i) => item.data.byteOffset === dense[i]!.data.byteOffset && item.size > 0));
    }),
  );
  h.arena.release(mark);
});
