/** @file What a summary of a model says. */

/** A lookup, or a scope with variables of its own. */
export interface LayerSummary {
  readonly name: string;
  /** The table a lookup reads; of other layers the op that comes last. */
  readonly kind: string;
  /** What it gives: `[batch, 16]`. */
  readonly output: string;
  /** Floats of its variables; 0 for a lookup. */
  readonly floats: number;
  /** What steps its variables; null where nothing does. */
  readonly optimizer: string | null;
}

export interface TableSummary {
  readonly name: string;
  /** Floats of an embedding, all segments together. */
  readonly dim: number;
  readonly optimizers: readonly string[];
  /** In the newest checkpoint; 0 before the first. */
  readonly rows: number;
  /** Bytes of a row with its optimizer state. */
  readonly rowBytes: number;
  /** Bytes of the rows and their index in memory. */
  readonly bytes: number;
}

export interface SummaryParts {
  readonly model: string;
  readonly layers: readonly LayerSummary[];
  readonly tables: readonly TableSummary[];
  /** Floats of all variables of the model, and of those that its optimizers keep beside them. */
  readonly denseFloats: number;
  readonly optimizerFloats: number;
  /** Global step of the newest checkpoint; 0 before the first. */
  readonly step: number;
  /** Of all tables. */
  readonly tableRows: number;
  readonly tableBytes: number;
}
