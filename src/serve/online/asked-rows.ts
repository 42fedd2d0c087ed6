/**
 * @file Rows of a request, in the forms of TensorFlow Serving: a list of rows, columns, or serialized tf.Examples.
 */
import { decodeTfExample } from '../../io/tf-example.js';
import type { GivenRow, RowCheck } from './columns.js';
import { isObject, type JsonObject } from './read-body.js';
import { refusal } from './refusal.js';

/** What was asked, and the form of the answer. */
export interface AskedRows {
  readonly rows: readonly GivenRow[];
  readonly form: 'rows' | 'columns';
  /** What places of rows are called by in errors. */
  readonly place: string;
}

const SIGNATURES = ['serving_default', 'predict'];

/** The rows of a body of `:predict`. */
export function rowsOfPredict(body: JsonObject, check: RowCheck, rowsMax: number): AskedRows {
  onlyKeys(body, ['instances', 'inputs', 'signature_name']);
  checkSignature(body);
  const { instances, inputs } = body;
  if ((instances === undefined) === (inputs === undefined)) {
    const hint = 'rows are {"instances": [{…}]}, columns {"inputs": {…}}';
    throw refusal(400, 'the body has either instances or inputs', { hint });
  }
  if (instances !== undefined) {
    const rows = listOf(instances, 'instances', rowsMax).map((value, index) =>
      rowOf(value, `instances[${index}]`, check),
    );
    return { rows, form: 'rows', place: 'instances' };
  }
  return { rows: rowsOfColumns(inputs, check, rowsMax), form: 'columns', place: 'inputs' };
}

/** The rows of a body of `:classify` or `:regress`: what is in `context` is of every example. */
export function rowsOfExamples(body: JsonObject, check: RowCheck, rowsMax: number): AskedRows {
  onlyKeys(body, ['examples', 'context', 'signature_name']);
  checkSignature(body);
  const context = body.context === undefined ? {} : rowOf(body.context, 'context', check, true);
  const rows = listOf(body.examples, 'examples', rowsMax).map((value, index) => {
    if (isObject(value) && isBase64(value)) return rowOf(value, `examples[${index}]`, check);
    return check.row(isObject(value) ? { ...context, ...value } : value, `examples[${index}]`);
  });
  return { rows, form: 'rows', place: 'examples' };
}

/** ML_REQUEST for a key that the call does not have. */
export function onlyKeys(body: JsonObject, known: readonly string[]): void {
  const stranger = Object.keys(body).find((key) => !known.includes(key));
  if (stranger === undefined) return;
  throw refusal(400, `${stranger}: the call has no such key`, { hint: `it has ${known.join(', ')}` });
}

function checkSignature({ signature_name: name }: JsonObject): void {
  if (name === undefined || name === '' || SIGNATURES.includes(name as string)) return;
  throw refusal(400, `Serving signature name: ${JSON.stringify(name)} not found in signature def`, {
    hint: `there is ${SIGNATURES[0]}`,
  });
}

/** A list that is not too long. */
export function listOf(value: unknown, name: string, most: number): readonly unknown[] {
  if (!Array.isArray(value)) throw refusal(400, `${name}: a list is needed`);
  if (value.length === 0) throw refusal(400, `${name}: the list is empty`);
  if (value.length <= most) return value;
  throw refusal(400, `${name}: ${value.length} rows are more than ${most}`, { hint: 'ask several times' });
}

/** `{"b64": …}`, as TensorFlow Serving writes bytes. */
const isBase64 = (value: JsonObject): value is { readonly b64: string } =>
  typeof value.b64 === 'string' && Object.keys(value).length === 1;

/** A row as an object of features, or as a serialized tf.Example. */
function rowOf(value: unknown, place: string, check: RowCheck, partial = false): GivenRow {
  if (!isObject(value)) return check.row(value, place);
  const inner = isObject(value.instances) && Object.keys(value).length === 1 ? value.instances : value;
  if (isBase64(inner) && !check.columns.includes('b64')) return check.row(rowOfExample(inner.b64, place), place);
  return partial ? check.known(value, place) : check.row(value, place);
}

/** The row that a serialized tf.Example has: lists of one value are that value, bytes are texts. */
export function rowOfExample(bytes: string | Uint8Array, place: string): GivenRow {
  const raw = typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : bytes;
  let values: ReturnType<typeof decodeTfExample>;
  try {
    values = decodeTfExample(raw);
  } catch (cause) {
    throw refusal(400, `${place}: it is no serialized tf.Example`, { cause });
  }
  return Object.fromEntries(
    Object.entries(values).map(([name, list]) => {
      const cells = Array.from(list as ArrayLike<unknown>, (cell) =>
        cell instanceof Uint8Array ? Buffer.from(cell).toString('utf8') : cell,
      );
      return [name, cells.length === 1 ? cells[0] : cells];
    }),
  );
}

/** Rows of columns of equal length; a bare list where the model has one column. */
export function rowsOfColumns(inputs: unknown, check: RowCheck, rowsMax: number): GivenRow[] {
  const [only] = check.columns;
  const bare = Array.isArray(inputs) && check.columns.length === 1;
  const columns = bare ? { [only!]: inputs } : inputs;
  if (!isObject(columns)) {
    throw refusal(400, 'inputs: an object of columns is needed', { hint: `they are ${check.columns.join(', ')}` });
  }
  const entries = Object.entries(columns);
  if (entries.length === 0) throw refusal(400, 'inputs: there are no columns');
  check.known(columns, 'inputs');
  const lists = entries.map(([name, list]) => [name, listOf(list, `inputs.${name}`, rowsMax)] as const);
  const [[first, { length }]] = lists as [(typeof lists)[number]];
  const other = lists.find(([, list]) => list.length !== length);
  if (other !== undefined) {
    throw refusal(400, `inputs.${other[0]}: it has ${other[1].length} rows, and ${first} has ${length}`);
  }
  return Array.from({ length }, (_, row) =>
    check.row(Object.fromEntries(lists.map(([name, list]) => [name, list[row]])), `inputs[${row}]`),
  );
}
