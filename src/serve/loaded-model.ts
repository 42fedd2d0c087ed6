/**
 * @file A model that was exported, ready to predict: raw rows in, predictions out, in this process.
 *
 * The graph is built from the file, tables are serving tables, and what was never seen is an id without a row, whose
 * embedding is zeros.
 */
import { isDeepStrictEqual } from 'node:util';
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import { idOf } from '../data/cells.js';
import type { UnlabelledRow } from '../data/row-types.js';
import { defineSchema, type Features, type Schema } from '../data/schema.js';
import type { Tensor } from '../graph/graph.js';
import { portableSchema, readSchema, withFunctions } from '../portable/portable-schema.js';
import type { PortableTable } from '../portable/portable-tables.js';
import { readGraph } from '../portable/read-graph.js';
import { Session, type SessionOptions } from '../runtime/session/session.js';
import { HashTable } from '../sparse/table/hash-table.js';
import { chunksOf, type EncodedChunk, raggedRoom } from './chunks.js';
import { isNativeModel, NativeModel } from './native/read-native.js';
import { newestVersion } from './versions.js';

export interface LoadModelOptions<F extends Features = Features> {
  /** The schema that the model was trained with: rows are typed by it, and its functions are called. */
  readonly schema?: Schema<F>;
  /** Examples that are computed at once at the most. Default: 256. */
  readonly batchSize?: number;
  /** Threads that compute. Default: 1, which answers quickest for few rows. */
  readonly threads?: number;
  /** More of what sessions are told. */
  readonly session?: Omit<SessionOptions, 'schema' | 'batchSize' | 'threads'>;
}

/** A row to predict on: typed where the schema is known. */
export type AskedRow<F extends Features> = string extends keyof F ? object : UnlabelledRow<F>;

/** What a head predicts. */
export interface LoadedHead {
  readonly name: string;
  readonly kind: 'binary' | 'regression' | 'multiclass' | 'own';
  /** Values of an example. */
  readonly width: number;
  readonly classes?: readonly string[];
}

/** The body of `loadModel`. */
export async function openModel<F extends Features>(
  dir: string,
  options: LoadModelOptions<F>,
): Promise<LoadedModel<F>> {
  checkOptions('loadModel', options, ['schema', 'batchSize', 'threads', 'session']);
  const folder = await newestVersion(dir, isNativeModel);
  const native = await NativeModel.open(folder);
  try {
    return await LoadedModel.of(native, options);
  } finally {
    await native.close();
  }
}

interface Parts<F extends Features> {
  readonly native: NativeModel;
  readonly schema: Schema<F>;
  readonly session: Session;
  readonly preds: readonly Tensor[];
  readonly tables: ReadonlyMap<string, HashTable>;
  readonly ids: ReadonlyMap<string, BigInt64Array>;
}

/** Ids of a table that are remembered, as what can be recommended. */
export const LISTED_MAX = 10_000;
const BATCH_SIZE = 256;

export class LoadedModel<F extends Features = Features> {
  /** Name of the model. */
  readonly name: string;
  /** Folder it was read from. */
  readonly dir: string;
  /** Global step that it was trained up to; null when it has none. */
  readonly step: number | null;
  readonly schema: Schema<F>;
  readonly heads: readonly LoadedHead[];
  readonly #session: Session;
  readonly #preds: readonly Tensor[];
  readonly #tables: ReadonlyMap<string, HashTable>;
  /** Tables by the name of a feature that is looked up in them. */
  readonly #tableOf: ReadonlyMap<string, string>;

  readonly #ids: ReadonlyMap<string, BigInt64Array>;
  readonly #portable: ReadonlyMap<string, PortableTable>;

  private constructor({ native, schema, session, preds, tables, ids }: Parts<F>) {
    const { json, dir, step } = native;
    this.name = json.name;
    this.dir = dir;
    this.step = step;
    this.schema = schema;
    this.heads = json.heads.map(({ name, kind, classes }, index) => ({
      name,
      kind,
      width: preds[index]!.columns,
      ...(classes && { classes }),
    }));
    this.#session = session;
    this.#preds = preds;
    this.#tables = tables;
    this.#ids = ids;
    this.#portable = native.tables;
    this.#tableOf = new Map(
      json.ops.flatMap(({ type, inputs = [], attributes = {} }) =>
        type === 'EmbeddingLookup' ? [[inputs[0]!.replace(/:\d+$/, ''), String(attributes.table)] as const] : [],
      ),
    );
  }

  /** The model of an open folder, with all rows of its tables in memory. */
  static async of<F extends Features>(native: NativeModel, options: LoadModelOptions<F>): Promise<LoadedModel<F>> {
    const { json, dir } = native;
    const refuse = (reason: string, hint?: string) =>
      new MonolithError('ML_MODEL', { model: dir, reason }, hint === undefined ? {} : { hint });
    const schema = schemaOf(native, options.schema);
    const used = new Set<string>();
    const { graph, tables: configs } = readGraph(json, (name, shape) => {
      const values = native.arrays.get(name);
      const wanted = shape.reduce((count, size) => count * size, 1);
      if (values?.length !== wanted) throw refuse(`its weights have no ${wanted} values of ${name}`);
      used.add(name);
      return values;
    });
    const preds = json.heads.map(({ tensor }) => graph.tensor(tensor));
    for (const pred of preds) if (!pred.perExample) throw refuse(`${pred.name} is no prediction for each example`);
    const { batchSize = BATCH_SIZE, threads = 1, session: more = {} } = options;
    const session = await Session.create(graph, { ...more, schema: schema.specs, batchSize, threads });
    try {
      const [tables, listed] = [new Map<string, HashTable>(), new Map<string, BigInt64Array>()];
      for (const [name, config] of configs) {
        const table = HashTable.of(session, config);
        for await (const { ids, rows } of native.portions(native.tables.get(name)!)) {
          table.assign(ids, rows);
          if (native.count(name) > LISTED_MAX) continue;
          // Rows of a model in parts come part by part.
          const before = listed.get(name) ?? new BigInt64Array(0);
          listed.set(name, BigInt64Array.from([...before, ...ids]));
        }
        tables.set(name, table);
      }
      await session.prepare(preds, { mode: 'predict' });
      return new LoadedModel<F>({ native, schema, session, preds, tables, ids: listed });
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** Predictions of the first head: a value for each row, or as many as it has, row after row. */
  async predict(rows: readonly AskedRow<F>[]): Promise<Float32Array> {
    const [first] = await this.#run(rows);
    return first!;
  }

  /** Predictions of every head by its name. */
  async predictHeads(rows: readonly AskedRow<F>[]): Promise<Readonly<Record<string, Float32Array>>> {
    const values = await this.#run(rows);
    return Object.fromEntries(this.heads.map(({ name }, index) => [name, values[index]!]));
  }

  async #run(rows: readonly AskedRow<F>[]): Promise<Float32Array[]> {
    const out = this.heads.map(({ width }) => new Float32Array(width * rows.length));
    let done = 0;
    for (const chunk of this.encoded(rows, false)) {
      const values = await this.score(chunk);
      for (const [index, head] of this.heads.entries()) out[index]!.set(values[index]!, done * head.width);
      done += chunk.count;
    }
    return out;
  }

  // --- for servers, which gather the rows of several callers ---------------------------------------------------------

  /** Rows that are computed at once at the most, and ids of each feature in them. */
  get room(): { readonly rows: number; readonly ids: ReadonlyMap<string, number> } {
    const { batchSize } = this.#session;
    return { rows: batchSize, ids: raggedRoom(this.schema as never, batchSize) };
  }

  /** Rows as they are fed, in parts that have room; `partial` where columns may be absent from all of them. */
  encoded(rows: readonly AskedRow<F>[], partial: boolean): Iterable<EncodedChunk> {
    return chunksOf(this.schema, rows as never, this.#session, partial);
  }

  /** Values of each head for rows that are encoded. */
  async score({ feeds }: EncodedChunk): Promise<Float32Array[]> {
    return (await this.#session.run(this.#preds, feeds, { mode: 'predict' })) as Float32Array[];
  }

  /** Runs `body` while nothing is computed: what changes tables, or reads them, does it there. */
  hold<T>(body: () => Promise<T>): Promise<T> {
    return this.#session.hold(body);
  }

  /** Values of variables are set here, between two predictions. */
  get session(): Pick<Session, 'writeVariable' | 'variableNames' | 'readVariable'> {
    return this.#session;
  }

  /** Its tables by name. */
  get tables(): ReadonlyMap<string, HashTable> {
    return this.#tables;
  }

  /** Its tables as files have them. */
  get portableTables(): Iterable<PortableTable> {
    return this.#portable.values();
  }

  /** Names of tables by the feature that is looked up in them. */
  get tableOf(): ReadonlyMap<string, string> {
    return this.#tableOf;
  }

  /** Rows of ids in the table of a feature, one after the other; zeros for ids it does not have. */
  lookup(feature: string, ids: readonly unknown[]): { readonly dim: number; readonly values: Float32Array } {
    const table = this.tableOfFeature(feature);
    const refuse = (reason: string) => new MonolithError('ML_ID_TYPE', { what: 'lookup', reason });
    return { dim: table.dim, values: table.lookup(BigInt64Array.from(ids, (id) => idOf(id, refuse))) };
  }

  /** Ids that the table of a feature had in the file; null where there were more than `LISTED_MAX`. */
  idsOf(feature: string): BigInt64Array | null {
    this.tableOfFeature(feature);
    return this.#ids.get(this.#tableOf.get(feature)!) ?? null;
  }

  /** The table of a feature; ML_TABLE_UNKNOWN with the nearest name for one that has none. */
  tableOfFeature(feature: string): HashTable {
    const table = this.#tables.get(this.#tableOf.get(feature) ?? '');
    if (table !== undefined) return table;
    const known = [...this.#tableOf.keys()];
    const hint = didYouMean(feature, known) ?? `there are ${known.join(', ')}`;
    throw new MonolithError(
      'ML_TABLE_UNKNOWN',
      { table: feature, reason: 'no feature of this name has one' },
      { hint },
    );
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The schema of the file, or the one given, which must be the same but for its functions. */
function schemaOf<F extends Features>({ json, dir }: NativeModel, given: Schema<F> | undefined): Schema<F> {
  if (given === undefined) {
    const own = withFunctions(json.features);
    if (own.length === 0) return readSchema(json.features) as unknown as Schema<F>;
    const reason = `cells of ${own.join(', ')} go through functions of its schema, which are not in the file`;
    throw new MonolithError('ML_MODEL', { model: dir, reason }, { hint: 'loadModel(dir, { schema })' });
  }
  const features = Object.fromEntries(
    json.features.flatMap(({ name }) => (Object.hasOwn(given.features, name) ? [[name, given.features[name]!]] : [])),
  );
  const found = JSON.parse(JSON.stringify(portableSchema(features))) as object[];
  const index = json.features.findIndex((feature, at) => !isDeepStrictEqual({ ...feature }, found[at]));
  if (index < 0) return defineSchema(features) as unknown as Schema<F>;
  const name = json.features[index]?.name ?? 'a feature';
  throw new MonolithError('ML_MODEL', { model: dir, reason: `it was trained with another schema: ${name} differs` });
}
