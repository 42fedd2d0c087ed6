/** @file Lowerings of reads and fetches of cached variables; they are assigned to as any variable is. */
import { CachedValue, FetchVariable } from '../../../graph/cached-variables.js';
import { KERNEL } from '../../kernels/kernels.js';
import { registerLowering } from '../lowering.js';

/** Slices copy whole cache lines each: no two of them write the same one. */
const GRAIN_FLOATS = 16;

registerLowering(CachedValue, (op, context) => context.setStorage(op.output, context.storage(op.inputs[1]!)), {
  phase: { runs: 'nothing' },
});

// Slice code: updates come after it, and it costs the step no barrier of its own.
registerLowering(FetchVariable, (op, context) => {
  const [source, target] = op.inputs.map((tensor) => context.environment.variable(tensor));
  const { slice, plan } = context;
  const count = op.inputs[0]!.columns;
  const begin = (index: number) =>
    Math.min(count, Math.floor((Math.ceil(count / GRAIN_FLOATS) * index) / plan.slices) * GRAIN_FLOATS);
  const cols = slice.each((index) => begin(index + 1) - begin(index));
  const range = (base: number) => ({ pointer: slice.each((index) => base + begin(index) * 4), stride: cols });
  const [rows, acc] = [slice.constant(1), slice.constant(0)];
  context.emit(KERNEL.copyRowsF32, { src: range(source!), dst: range(target!), rows, cols, acc });
});
