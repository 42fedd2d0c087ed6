/**
 * @file Products with a matrix that is put together of lookups: rows that repeat in the columns of a lookup are
 * multiplied once.
 *
 * Of the two gradients of such a product one call makes both, since both start from the same sums.
 */
import type { Op, OpDef, Tensor } from '../../../graph/graph.js';
import { MatMul, type MatMulAttrs } from '../../../graph/ops/matmul.js';
import { FIELD, FIELD_WORDS, wordsOf } from '../../../memory/record-layout.js';
import { KERNEL } from '../../kernels/kernels.js';
import type { LoweringContext } from '../lowering.js';
import { addedUp, type RepeatedColumns, repeatedColumns } from '../repeats.js';

type Product = Op<MatMulAttrs>;

/** Below these, adding products up takes longer than making them. */
const MIN_COLUMNS = 8;
const MIN_OUTPUTS = 16;

/** Products that a call for another one makes too. */
const DONE = {};

/** Emits the product, if rows of it may repeat; false leaves it to the plain kernel. */
export function multiplyDistinct(op: Product, context: LoweringContext): boolean {
  if (!context.environment.skipsRepeats) return false;
  const done = context.shared(DONE, () => new Set<Op>());
  if (done.has(op)) return true;
  const { transposeA, transposeB } = op.attrs;
  if (transposeA && transposeB) return false;
  if (!transposeA && !transposeB) return forward(op, context);
  const pair = gradientsWith(op, context, done);
  if (pair === undefined) return false;
  const emitted = backward(pair, op, context);
  for (const product of emitted) done.add(product);
  return emitted.includes(op);
}

function isProduct(op: Op): op is Product & Op {
  return op.def === (MatMul as OpDef<unknown>);
}

/** The columns of `x` worth a field in a product that is `outputs` wide. */
function fieldsOf(context: LoweringContext, x: Tensor, outputs: number): RepeatedColumns[] {
  if (!x.perExample || outputs < MIN_OUTPUTS) return [];
  return repeatedColumns(context, x).filter(({ columns }) => columns >= MIN_COLUMNS);
}

function forward(op: Product, context: LoweringContext): boolean {
  const [x, w] = op.inputs as [Tensor, Tensor];
  if (w.perExample || context.partsOf(op.output) !== undefined) return false;
  const [k, n] = w.spec.shape as [number, number];
  const fields = fieldsOf(context, x, n);
  if (fields.length === 0) return false;
  const { slice, plan, environment } = context;
  const from = context.matrix(x);
  const list = writeFields(context, fields);
  const out = context.output(op.output);
  const bytes = environment.kernels.gemmRepeatsScratchBytes(plan.sliceRows, n, k, fields.length, widest(fields));
  context.emit(KERNEL.gemmRepeatsF32, {
    x: from,
    w: context.pointer(w),
    out,
    rows: context.rows,
    n: slice.constant(n),
    k: slice.constant(k),
    ...list,
    acc: out.accumulate,
    scratch: context.scratch(bytes),
  });
  return true;
}

/** The product x * w and the gradients of it that the program has. */
interface Gradients {
  readonly x: Tensor;
  readonly w: Tensor;
  readonly grad: Tensor;
  readonly ofX: Product | undefined;
  readonly ofW: Product | undefined;
}

/**
 * What the gradient `op` is one of; undefined when it is no gradient of a product of examples with weights. Products
 * that are added share a gradient: what was made of it for another one is not made again.
 */
function gradientsWith(op: Product, context: LoweringContext, done: ReadonlySet<Op>): Gradients | undefined {
  const grad = op.inputs[op.attrs.transposeA ? 1 : 0]!;
  const products = (context.usersOf(grad) ?? []).filter((user) => !done.has(user)).filter(isProduct);
  const ofW = op.attrs.transposeA ? op : products.find((other) => other.attrs.transposeA && other.inputs[1] === grad);
  if (ofW === undefined) return undefined;
  const x = ofW.inputs[0]!;
  const forwards = (context.usersOf(x) ?? []).filter((other) => isProduct(other) && other.inputs[0] === x) as Product[];
  const ofX = products.find(
    ({ attrs, inputs }) =>
      attrs.transposeB &&
      inputs[0] === grad &&
      forwards.some((other) => !other.attrs.transposeA && other.inputs[1] === inputs[1]),
  );
  const w = ofX?.inputs[1] ?? forwards.find(({ attrs }) => !attrs.transposeA && !attrs.transposeB)?.inputs[1];
  if (w === undefined || w.perExample || (op !== ofW && op !== ofX)) return undefined;
  return { x, w, grad, ofX, ofW };
}

/** Emits gradients of a product; returns those it has made. */
function backward({ x, w, grad, ofX, ofW }: Gradients, op: Product, context: LoweringContext): Product[] {
  // Of the gradient of weights alone, `w` is any that x is multiplied with, and may be wider.
  const [k, n] = [x.columns, grad.columns];
  const together = [ofX, ofW].filter((product) => product !== undefined && context.runTogether(product, op));
  const all = fieldsOf(context, x, n);
  let [fields, dx] = [all, undefined as Wanted | undefined];
  if (ofX !== undefined && together.includes(ofX)) {
    const wanted = wantedOf(ofX, context, k);
    const isAddedUp = addedUp(context, ofX.output);
    const usable = all.filter((field) => isInside(field, wanted) && isAddedUp(field));
    if (usable.length > 0) [fields, dx] = [usable, wanted];
  }
  const emitted = [ofX, ofW].filter((product): product is Product => {
    return product !== undefined && together.includes(product) && (product !== ofX || dx !== undefined);
  });
  if (fields.length === 0 || !emitted.includes(op)) return [];
  const { slice, plan, environment } = context;
  const zero = slice.constant(0);
  const [from, by] = [context.matrix(x), context.matrix(grad)];
  const out = dx && context.output(dx.output);
  const dw = ofW !== undefined && emitted.includes(ofW) ? ofW.output : undefined;
  if (dw !== undefined) context.allocate(dw);
  const list = writeFields(context, fields);
  const bytes = environment.kernels.gemmRepeatsGradScratchBytes(plan.sliceRows, n, k, fields.length, widest(fields));
  context.emit(KERNEL.gemmRepeatsGradF32, {
    x: from,
    w: dx === undefined ? zero : context.pointer(w),
    grad: by,
    dx: out ?? context.noMatrix,
    dxFrom: slice.constant(dx?.from ?? 0),
    dxCount: slice.constant(dx?.columns ?? 0),
    dxAcc: out?.accumulate ?? zero,
    dw: dw === undefined ? zero : context.pointer(dw),
    rows: context.rows,
    n: slice.constant(n),
    k: slice.constant(k),
    ...list,
    scratch: context.scratch(bytes),
  });
  return emitted;
}

/** The columns of a gradient that are used, and the tensor that holds them. */
interface Wanted {
  readonly output: Tensor;
  readonly from: number;
  readonly columns: number;
}

function wantedOf(ofX: Product, context: LoweringContext, k: number): Wanted {
  const part = context.partsOf(ofX.output)?.[0];
  if (part === undefined) return { output: ofX.output, from: 0, columns: k };
  return { output: part.output, from: part.attrs.start, columns: part.output.columns };
}

function isInside({ column, columns }: RepeatedColumns, wanted: Wanted): boolean {
  return column >= wanted.from && column + columns <= wanted.from + wanted.columns;
}

function widest(fields: readonly RepeatedColumns[]): number {
  return Math.max(...fields.map(({ columns }) => columns));
}

/** The list of fields of each slice, how many there are and how wide the widest is. */
function writeFields(context: LoweringContext, fields: readonly RepeatedColumns[]) {
  const numbered = fields.map(({ column, columns, repeats }) => ({ column, columns, words: repeats.number() }));
  const list = context.perSlice(fields.length * FIELD_WORDS * 4, 'fields');
  for (let slice = 0; slice < context.plan.slices; slice++) {
    const words = numbered.flatMap(({ column, columns, words }) => {
      const [numbers, order, starts, count] = words(slice);
      return wordsOf(FIELD, FIELD_WORDS, { column, floats: columns, numbers, order, starts, count });
    });
    context.environment.views.u32.set(words, (list.base + slice * list.sliceBytes) / 4);
  }
  const { slice } = context;
  const [fieldCount, width] = [slice.constant(fields.length), slice.constant(widest(fields))];
  return { fields: list.pointer, fieldCount, width };
}
