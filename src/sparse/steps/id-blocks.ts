/**
 * @file Lookups of features that have the same number of ids in every example: columns of a feed of ids.
 *
 * All columns of one feed that a table is looked up with are a block. Its ids are made unique in one call, one more
 * call writes the slices of all its features where the model wants them, and one adds their gradients up per unique id.
 */
import { misfit, type Op, type Tensor } from '../../graph/graph.js';
import type { AssembleColumnsAttrs } from '../../graph/ops/columns.js';
import { PIECE, PIECE_WORDS, wordsOf } from '../../memory/record-layout.js';
import type { Register } from '../../runtime/compile/code.js';
import type { LoweringContext, Matrix, Storage } from '../../runtime/compile/lowering.js';
import { type Repeats, setRepeats } from '../../runtime/compile/repeats.js';
import { KERNEL } from '../../runtime/kernels/kernels.js';
import { type GradientSums, sumScratch } from './gradient-sums.js';

type SliceStorage = Extract<Storage, { kind: 'slice' }>;

/** What is moved between rows of the table and a matrix: a PIECE in the making. */
interface Piece {
  readonly first: number;
  readonly ids: number;
  /** First float of a row. */
  readonly start: number;
  readonly to: SliceStorage;
  readonly adds: boolean;
}

/** What the unique ids of a slice are made in. */
export interface UniqueScratch {
  readonly table: Register;
  readonly mask: Register;
  readonly generation: Register;
  readonly ids: Register;
  /** Unique ids a slice can have. */
  readonly capacity: number;
}

/** Addresses of what numberRepeatsU32 gives for a column of a block, in each slice. */
type Numbering = (column: number, slice: number) => readonly [number, number, number, number];

export class IdBlock {
  readonly #context: LoweringContext;
  /** Ids of each lookup: which columns of the feed. */
  readonly #lookups: ReadonlyMap<Tensor, readonly [from: number, ids: number]>;
  /** Columns of the feed that some lookup wants, ascending. */
  readonly #columns: readonly number[];
  readonly #ids: Matrix;
  readonly #inverse: Register;
  #uniqueCapacity = 0;
  #numbering: Numbering | undefined;

  private constructor(context: LoweringContext, feed: string, lookups: readonly Op[]) {
    this.#context = context;
    const stored = lookups.map((lookup) => ({ lookup, storage: idsOf(context, lookup.inputs[0]!)! }));
    this.#lookups = new Map(
      stored.map(({ lookup, storage }) => [lookup.output, [storage.offset / 8, storage.columns] as const]),
    );
    const wanted = new Set([...this.#lookups.values()].flatMap(([from, ids]) => range(from, ids)));
    this.#columns = [...wanted].sort((a, b) => a - b);
    const { stride } = stored[0]!.storage;
    this.#ids = context.matrixOf({ kind: 'feed', feed, stride, columns: stride, offset: 0 });
    this.#inverse = context.perLease(this.capacity * 4, `inverse ${feed}`).pointer;
    const repeats = this.#columns.map((_, column): Repeats => ({ number: () => this.#number(column) }));
    for (const [lookup, [from, ids]] of this.#lookups) {
      if (ids === 1) setRepeats(context, lookup, repeats[this.#columns.indexOf(from)]!);
    }
  }

  /** The blocks of the lookups whose ids are columns of a feed of ids; others are left out. */
  static of(context: LoweringContext, lookups: Iterable<Op>): IdBlock[] {
    const byFeed = new Map<string, Op[]>();
    for (const lookup of lookups) {
      const storage = idsOf(context, lookup.inputs[0]!);
      if (storage !== undefined) byFeed.set(storage.feed, [...(byFeed.get(storage.feed) ?? []), lookup]);
    }
    return [...byFeed].map(([feed, ops]) => new IdBlock(context, feed, ops));
  }

  /** Ids a slice can hold. */
  get capacity(): number {
    return this.#context.plan.sliceRows * this.#columns.length;
  }

  has(lookup: Tensor): boolean {
    return this.#lookups.has(lookup);
  }

  /** Adds the ids to the unique ones, of which there are `count`; the register of the new count. */
  unique({ table, mask, generation, ids, capacity }: UniqueScratch, count: Register): Register {
    const context = this.#context;
    this.#uniqueCapacity = capacity;
    const { slice } = context;
    const columns = context.alloc(this.#columns.length * 4, 'columns of ids');
    context.environment.views.u32.set(this.#columns, columns / 4);
    const total = slice.each();
    context.emit(
      KERNEL.uniqueColumnsI64,
      {
        ids: this.#ids,
        rows: context.rows,
        columns: slice.constant(columns),
        columnCount: this.#width,
        table,
        tableMask: mask,
        generation,
        base: count,
        uids: ids,
        inverse: this.#inverse,
      },
      total,
    );
    return total;
  }

  /** Numbers the distinct ids of every column, the first time somebody asks. */
  #number(column: number): ReturnType<Repeats['number']> {
    this.#numbering ??= this.#emitNumbering();
    const numbering = this.#numbering;
    return (slice) => numbering(column, slice);
  }

  #emitNumbering(): Numbering {
    const context = this.#context;
    const { slice, plan } = context;
    const [rows, columns] = [plan.sliceRows, this.#columns.length];
    const map = context.perSlice(this.#uniqueCapacity * 4, 'numbers of unique ids');
    const numbers = context.perSlice(rows * columns * 4, 'numbers');
    const order = context.perSlice(rows * columns * 4, 'rows by number');
    const starts = context.perSlice((rows + 2) * columns * 4, 'starts of numbers');
    const counts = context.perSlice(columns * 4, 'counts of numbers');
    context.emit(KERNEL.numberRepeatsU32, {
      inverse: this.#inverse,
      columns: this.#width,
      rows: context.rows,
      map: map.pointer,
      numbers: numbers.pointer,
      order: order.pointer,
      starts: starts.pointer,
      stride: slice.constant(rows),
      counts: counts.pointer,
    });
    return (column, index) => {
      const at = ({ base, sliceBytes }: typeof numbers, words: number) =>
        base + index * sliceBytes + column * words * 4;
      return [at(numbers, rows), at(order, rows), at(starts, rows + 2), at(counts, 1)];
    };
  }

  /** Adds to `counts` how often each unique id came. */
  count(counts: Register): void {
    const { rows } = this.#context;
    this.#context.emit(KERNEL.countColumnsU32, { inverse: this.#inverse, rows, columns: this.#width, counts });
  }

  /** Writes what each of `lookups` shows, or the columns of it that are used, where they are wanted. */
  gather(rowPointers: Register, lookups: readonly Tensor[]): void {
    const context = this.#context;
    const pieces = lookups.flatMap((lookup) => {
      const parts = context.partsOf(lookup);
      return parts === undefined
        ? [this.#output(lookup, lookup, 0)]
        : parts.map((part) => this.#output(lookup, part.output, part.attrs.start));
    });
    context.emit(KERNEL.gatherSlicesF32, { rowPtrs: rowPointers, ...this.#write(pieces) });
  }

  #output(lookup: Tensor, tensor: Tensor, start: number): Piece {
    const [from, ids] = this.#lookups.get(lookup)!;
    const { storage, adds } = this.#context.outputStorage(tensor);
    return { first: this.#columns.indexOf(from), ids, start, to: sliceStorage(tensor, storage), adds };
  }

  /** Adds the gradients of lookups to `sums`. */
  scatter(grads: readonly (readonly [grad: Tensor, lookup: Tensor])[], sums: GradientSums): void {
    const context = this.#context;
    const pieces = grads.flatMap(([grad, lookup]) => {
      const [from, ids] = this.#lookups.get(lookup)!;
      const piece = (tensor: Tensor, start: number): Piece => {
        return { first: this.#columns.indexOf(from), ids, start, to: this.#gradient(tensor), adds: true };
      };
      if (!context.isLoose(grad)) return [piece(grad, 0)];
      const { inputs, attrs } = grad.op as Op<AssembleColumnsAttrs>;
      return inputs.map((input, i) => piece(input, attrs.starts[i]!));
    });
    const { sliceRows } = context.plan;
    const ids = pieces.map((piece) => piece.ids);
    const additions = ids.reduce((sum, count) => sum + count, 0) * sliceRows;
    const scratch = sumScratch(context, sums, Math.max(...ids) * sliceRows, additions);
    context.emit(KERNEL.scatterSlicesF32, { ...this.#write(pieces), sums, scratch });
  }

  /** Where a gradient lies. That of a feed moves with the batch, so it is copied to where the list says. */
  #gradient(tensor: Tensor): SliceStorage {
    const context = this.#context;
    const storage = context.storage(tensor);
    if (storage.kind === 'slice') return storage;
    const { columns } = tensor;
    const copy = context.perSlice(context.plan.sliceRows * columns * 4, `copy of ${tensor.name}`);
    const to: SliceStorage = { kind: 'slice', base: copy.base, sliceBytes: copy.sliceBytes, stride: columns, columns };
    const { slice } = context;
    context.emit(KERNEL.copyRowsF32, {
      src: context.matrixOf(storage),
      dst: context.matrixOf(to),
      ...context.sizeOf(tensor),
      acc: slice.constant(0),
    });
    return to;
  }

  get #width(): Register {
    return this.#context.slice.constant(this.#columns.length);
  }

  /** The ids, and the list of pieces that move between their rows and matrices: one for each slice, as matrices are. */
  #write(pieces: readonly Piece[]) {
    const context = this.#context;
    const list = context.perSlice(pieces.length * PIECE_WORDS * 4, 'pieces');
    for (let slice = 0; slice < context.plan.slices; slice++) {
      const words = pieces.flatMap(({ first, ids, start, to, adds }) => {
        const matrix = to.base + slice * to.sliceBytes;
        const sizes = { offset: start * 4, floats: to.columns, stride: to.stride * 4 };
        return wordsOf(PIECE, PIECE_WORDS, { first, ids, matrix, ...sizes, add: adds ? 1 : 0 });
      });
      context.environment.views.u32.set(words, (list.base + slice * list.sliceBytes) / 4);
    }
    return {
      inverse: this.#inverse,
      idsPerRow: this.#width,
      rows: context.rows,
      pieces: list.pointer,
      pieceCount: context.slice.constant(pieces.length),
    };
  }
}

/** Where the ids of a lookup are, when they are columns of a feed of ids. */
function idsOf(context: LoweringContext, ids: Tensor): Extract<Storage, { kind: 'feed' }> | undefined {
  if (ids.spec.ragged) return undefined;
  const storage = context.storage(ids);
  if (storage.kind !== 'feed') throw misfit(ids.name, 'ids of a lookup come from a feed');
  return storage;
}

function sliceStorage(tensor: Tensor, storage: Storage): SliceStorage {
  if (storage.kind !== 'slice') throw misfit(tensor.name, 'a lookup has a row per example');
  return storage;
}

function range(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => from + i);
}
