/**
 * @file A checkpoint opened to be exported: the model as it predicts, with the values of its variables, constants and
 * tables.
 */
import { restoreSession } from '../checkpoint/restore-session.js';
import type { Features } from '../data/schema.js';
import { modelJson, type WrittenModel } from '../portable/model-json.js';
import { type CompressorName, type PortableTable, portableTable } from '../portable/portable-tables.js';
import { Session, type SessionOptions } from '../runtime/session/session.js';
import { HashTable } from '../sparse/table/hash-table.js';
import { buildIn, type EstimatorModel } from '../train/estimator/estimator-model.js';

import { packedArray, packRow, unpackInto } from './packed-rows.js';

export interface TrainedModelOptions {
  readonly model: EstimatorModel;
  /** Prefix of a checkpoint. */
  readonly checkpoint: string;
  /** Of the session that it is restored into. */
  readonly session: SessionOptions;
  /** How rows are kept. Default: as the tables say. */
  readonly compress?: CompressorName | undefined;
  /** Whether variables alone are restored: the checkpoint may have no tables. Default: false. */
  readonly dense?: boolean;
}

/** A row of a table. */
export interface TrainedRow {
  readonly id: bigint;
  readonly weights: Float32Array;
}

export interface TrainedTable extends PortableTable {
  readonly count: number;
  /** Every row, in the order of its id. */
  rows(): Iterable<TrainedRow>;
  /** The same as serving shows them, which packs them. */
  shownRows(): Iterable<TrainedRow>;
}

/** What exporters need of a model. */
export interface ExportableModel {
  readonly written: WrittenModel;
  /** Global step of the checkpoint; null when it has none. */
  readonly step: number | null;
  readonly tables: readonly TrainedTable[];
  /** Values of a variable or a constant. */
  array(name: string): Float32Array;
}

export class TrainedModel implements ExportableModel {
  readonly written: WrittenModel;
  readonly step: number | null;
  readonly tables: readonly TrainedTable[];
  readonly #session: Session;

  private constructor(session: Session, written: WrittenModel, step: number | null) {
    this.#session = session;
    this.written = written;
    this.step = step;
    this.tables = trainedTables(session, written);
  }

  /** ML_EXPORT for a model that cannot be in a file. */
  static async open(opened: TrainedModelOptions): Promise<TrainedModel> {
    const { model, checkpoint, session: options, compress, dense = false } = opened;
    const built = buildIn(model, 'predict');
    const { features = {} } = model.schema as { readonly features?: Features };
    const written = modelJson(built, features, compress);
    const session = await Session.create(built.graph, options);
    try {
      const tables = written.tables.map(({ name }) => name);
      const how = dense
        ? ({ mode: 'warm-start', initial: tables, extra: ['*'] } as const)
        : ({ mode: 'subset' } as const);
      const { step } = await restoreSession(session, checkpoint, how);
      return new TrainedModel(session, written, step);
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  array(name: string): Float32Array {
    const constant = this.written.constants.find((op) => op.name === name);
    if (constant !== undefined) return constant.attrs.values;
    return this.#session.readVariable(name) as Float32Array;
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}

/** The tables of a model that was written, as they are in a session. */
export function trainedTables(session: Session, written: WrittenModel): TrainedTable[] {
  return written.tables.map((config, index) => {
    const table = HashTable.of(session, config);
    const json = written.json.tables[index] ?? portableTable(config);
    const rows = () => table.rows();
    return { ...json, count: table.size, rows, shownRows: () => shownRows(json, rows()) };
  });
}

/** Rows after packing and unpacking. */
function* shownRows({ segments }: PortableTable, rows: Iterable<TrainedRow>): Generator<TrainedRow> {
  const stride = segments.reduce((sum, { dim }) => sum + dim, 0);
  for (const { id, weights } of rows) {
    const shown = new Float32Array(stride);
    let first = 0;
    for (const segment of segments) {
      const packed = packedArray(segment, 1);
      packRow(segment, weights.subarray(first, first + segment.dim), packed, 0);
      unpackInto(segment, packed, shown, { first, stride });
      first += segment.dim;
    }
    yield { id, weights: shown };
  }
}
