/**
 * @file The rows that tensors of a request are: columns by name, the parts of sparse columns, or serialized examples.
 */
import { type AskedRows, rowOfExample, rowsOfColumns } from '../online/asked-rows.js';
import type { RowCheck } from '../online/columns.js';
import { refusal } from '../online/refusal.js';
import { DTYPE, type TensorProto } from '../saved-model/messages.js';
import type { ExampleInput } from './messages.js';
import { type GivenTensor, readTensor } from './tensors.js';

/** What the input of serialized examples is called by, in exports of ours and of others. */
const EXAMPLES = ['instances', 'examples', 'inputs'];
const BATCH_SIZE = 'batch_size';

export interface TensorLimits {
  readonly rowsMax: number;
  /** Values of a tensor. */
  readonly valuesMax: number;
}

type Inputs = ReadonlyMap<string, TensorProto>;

/** The rows of the inputs of a prediction. */
export function rowsOfTensors(inputs: Inputs, check: RowCheck, limits: TensorLimits): AskedRows {
  const [only] = inputs.keys();
  if (only === undefined) {
    throw refusal(400, 'inputs: there are none', { hint: `they are ${check.columns.join(', ')}, or ${EXAMPLES[0]}` });
  }
  const first = inputs.get(only)!;
  const isExamples = EXAMPLES.includes(only) && first.dtype === DTYPE.STRING && !check.columns.includes(only);
  if (inputs.size === 1 && isExamples) {
    const { values } = readTensor(only, first, limits.rowsMax);
    return examplesOf(Array.from(values as ArrayLike<Uint8Array>), undefined, check, only);
  }
  const columns = new Columns(inputs, check, limits);
  return { rows: rowsOfColumns(columns.lists(), check, limits.rowsMax), form: 'columns', place: 'inputs' };
}

/** The rows of the examples of a classification or a regression. */
export function rowsOfInput(input: ExampleInput | undefined, check: RowCheck, rowsMax: number): AskedRows {
  const { examples = [], context } = input?.exampleListWithContext ?? { ...input?.exampleList, context: undefined };
  if (examples.length > rowsMax) throw tooManyRows('examples', examples.length, { rowsMax });
  return examplesOf(examples, context, check, 'examples');
}

const tooManyRows = (place: string, rows: number, { rowsMax }: Pick<TensorLimits, 'rowsMax'>) =>
  refusal(400, `${place}: ${rows} rows are more than ${rowsMax}`, { hint: 'ask several times' });

function examplesOf(
  examples: readonly Uint8Array[],
  context: Uint8Array | undefined,
  check: RowCheck,
  place: string,
): AskedRows {
  if (examples.length === 0) throw refusal(400, `${place}: the list is empty`);
  const shared = context === undefined ? {} : check.known(rowOfExample(context, 'context'), 'context');
  const rows = examples.map((bytes, index) => {
    const where = `${place}[${index}]`;
    return check.row({ ...shared, ...rowOfExample(bytes, where) }, where);
  });
  return { rows, form: 'rows', place };
}

/** Inputs by the column they are of: whole, or as places and values. */
class Columns {
  readonly #inputs: Inputs;
  readonly #check: RowCheck;
  readonly #limits: TensorLimits;

  constructor(inputs: Inputs, check: RowCheck, limits: TensorLimits) {
    this.#inputs = inputs;
    this.#check = check;
    this.#limits = limits;
  }

  lists(): Record<string, readonly unknown[]> {
    const lists: Record<string, readonly unknown[]> = {};
    const sparse: string[] = [];
    for (const name of this.#inputs.keys()) {
      if (name === BATCH_SIZE && !this.#has(name)) continue;
      const of = this.#sparseColumn(name);
      if (of === undefined) lists[name] = this.#whole(name);
      else if (!sparse.includes(of)) sparse.push(of);
    }
    const rows = this.#rows(Object.values(lists)[0]?.length);
    for (const name of sparse) lists[name] = this.#sparse(name, rows);
    return lists;
  }

  #has(column: string): boolean {
    return this.#check.columns.includes(column);
  }

  /** The column that places or values are of. */
  #sparseColumn(name: string): string | undefined {
    const [, column] = /^(.+)_(?:indices|values)$/.exec(name) ?? [];
    return column !== undefined && this.#has(column) && !this.#has(name) ? column : undefined;
  }

  #read(name: string): GivenTensor {
    const tensor = this.#inputs.get(name);
    if (tensor === undefined) throw refusal(400, `inputs.${name}: it is missing`);
    return readTensor(`inputs.${name}`, tensor, this.#limits.valuesMax);
  }

  #rows(ofOthers: number | undefined): number {
    if (!this.#inputs.has(BATCH_SIZE) || this.#has(BATCH_SIZE)) return ofOthers ?? -1;
    const { values } = this.#read(BATCH_SIZE);
    const rows = Number(values[0]);
    if (values.length === 1 && Number.isInteger(rows) && rows > 0 && rows <= this.#limits.rowsMax) return rows;
    throw refusal(400, `inputs.${BATCH_SIZE}: a number of rows from 1 to ${this.#limits.rowsMax} is needed`);
  }

  /** A cell for each row: a value, or a list of those that a row has. */
  #whole(name: string): unknown[] {
    const { sizes, values } = this.#read(name);
    const [rows, width] = sizes;
    if (rows === undefined || sizes.length > 2) {
      const hint = 'a column has the shape [rows] or [rows, values]';
      throw refusal(400, `inputs.${name}: the shape [${sizes.join(', ')}] is that of no column`, { hint });
    }
    if (rows > this.#limits.rowsMax) throw tooManyRows(`inputs.${name}`, rows, this.#limits);
    const cells = Array.from(values, textOf);
    const isList = this.#check.lists.has(name);
    if (width === undefined || (width === 1 && !isList)) return cells;
    const listOf = (row: number) => cells.slice(row * width, (row + 1) * width);
    return Array.from({ length: rows }, (_, row) => (isList ? withoutTail(listOf(row)) : listOf(row)));
  }

  #sparse(column: string, rows: number): unknown[][] {
    if (rows < 0) {
      throw refusal(400, `inputs.${BATCH_SIZE}: it is missing`, { hint: `${column} alone does not say how many rows` });
    }
    const places = this.#read(`${column}_indices`);
    const { values } = this.#read(`${column}_values`);
    const lists = Array.from({ length: rows }, (): unknown[] => []);
    if (places.sizes.length !== 2 || places.sizes[1] !== 2 || places.sizes[0] !== values.length) {
      throw refusal(400, `inputs.${column}_indices: its shape is not [${values.length}, 2], a place for each value`);
    }
    for (let at = 0; at < values.length; at++) {
      const row = Number(places.values[2 * at]);
      const list = lists[row];
      if (list === undefined) throw refusal(400, `inputs.${column}_indices[${at}]: there is no row ${row}`);
      list.push(textOf(values[at]));
    }
    return lists;
  }
}

/** Rows with fewer ids than others are filled up with -1, or with empty texts. */
function withoutTail(cells: readonly unknown[]): unknown[] {
  let length = cells.length;
  while (length > 0 && (cells[length - 1] === -1n || cells[length - 1] === '')) length--;
  return cells.slice(0, length);
}

const textOf = (value: unknown): unknown => (value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value);
