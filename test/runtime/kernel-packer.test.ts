import t from 'tap';
import { createKernelPacker } from '../../src/runtime/kernel-packer.js';
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
