/**
 * @file The FFM model written out: Maps, numbers and loops, in f64, with nothing of the runtime.
 *
 * Slots 0, 2 and 3 have equal configs (a bias and two interactions), so they share one table, as the feature factory
 * has it.
 */
export interface PlainBatch {
  readonly label: readonly number[];
  /** ids[feature][example] */
  readonly ids: readonly (readonly (readonly bigint[])[])[];
}

interface Row {
  readonly weights: number[];
  /** FTRL state of the bias. */
  norm: number;
  zero: number;
}

/** First value of component `c` of the row of `id`. */
export type Initial = (id: bigint, component: number) => number;

const DIM = 16;
const RATE = 0.1;
const BETA = 1;
const TABLE_OF = [0, 1, 0, 0, 4, 5] as const;
const HAS_BIAS = [true, true, true, true, false, false] as const;
const WIDTH = [33, 17, 33, 33, 16, 32] as const;
/** user slot, first column there, item slot, first column there */
const PAIRS = [
  [0, 1, 3, 1],
  [0, 17, 4, 0],
  [1, 1, 5, 0],
  [2, 1, 3, 17],
  [2, 17, 5, 16],
] as const;

export class PlainFfm {
  readonly #tables = new Map<number, Map<bigint, Row>>();
  readonly #initial: Initial;

  constructor(initial: Initial) {
    this.#initial = initial;
  }

  /** Loss of the batch before its update. */
  step({ label, ids }: PlainBatch): number {
    const gradients = new Map<number, Map<bigint, number[]>>();
    let loss = 0;
    label.forEach((target, example) => {
      const pooled = WIDTH.map((_, slot) => this.#pool(slot, ids[slot]![example]!));
      let logit = 0;
      for (const [u, us, v, vs] of PAIRS) {
        for (let c = 0; c < DIM; c++) logit += pooled[u]![us + c]! * pooled[v]![vs + c]!;
      }
      for (let slot = 0; slot < WIDTH.length; slot++) if (HAS_BIAS[slot]) logit += pooled[slot]![0]!;
      loss += Math.max(logit, 0) - logit * target + Math.log1p(Math.exp(-Math.abs(logit)));
      const slope = (1 / (1 + Math.exp(-logit)) - target) / label.length;
      const rows = WIDTH.map((width, slot) => {
        const row = new Array<number>(width).fill(0);
        if (HAS_BIAS[slot]) row[0] = slope;
        return row;
      });
      for (const [u, us, v, vs] of PAIRS) {
        for (let c = 0; c < DIM; c++) {
          rows[u]![us + c]! += slope * pooled[v]![vs + c]!;
          rows[v]![vs + c]! += slope * pooled[u]![us + c]!;
        }
      }
      rows.forEach((row, slot) => {
        for (const id of ids[slot]![example]!) addTo(gradients, TABLE_OF[slot]!, id, row);
      });
    });
    for (const [table, sums] of gradients) for (const [id, sum] of sums) this.#update(table, id, sum);
    return loss / label.length;
  }

  /** An absent id counts as zeros. */
  #pool(slot: number, ids: readonly bigint[]): number[] {
    const sum = new Array<number>(WIDTH[slot]!).fill(0);
    for (const id of ids) {
      this.#tables
        .get(TABLE_OF[slot]!)
        ?.get(id)
        ?.weights.forEach((weight, c) => {
          sum[c]! += weight;
        });
    }
    return sum;
  }

  /** The first gradient of an id creates its row from the initializer, and then steps it. */
  #update(table: number, id: bigint, gradient: readonly number[]): void {
    const rows = this.#tables.get(table) ?? new Map<bigint, Row>();
    this.#tables.set(table, rows);
    const bias = HAS_BIAS[table]!;
    let row = rows.get(id);
    if (row === undefined) {
      const weights = gradient.map((_, c) => (bias && c === 0 ? 0 : this.#initial(id, c)));
      row = { weights, norm: 1e-6, zero: 0 };
      rows.set(id, row);
    }
    for (let c = bias ? 1 : 0; c < gradient.length; c++) row.weights[c]! -= RATE * gradient[c]!;
    if (!bias) return;
    const before = row.norm;
    row.norm += gradient[0]! ** 2;
    row.zero += gradient[0]! - ((Math.sqrt(row.norm) - Math.sqrt(before)) / RATE) * row.weights[0]!;
    row.weights[0] = (-RATE * row.zero) / (Math.sqrt(row.norm) + BETA);
  }
}

function addTo(sums: Map<number, Map<bigint, number[]>>, table: number, id: bigint, row: readonly number[]): void {
  const ofTable = sums.get(table) ?? new Map<bigint, number[]>();
  sums.set(table, ofTable);
  const sum = ofTable.get(id);
  if (sum === undefined) ofTable.set(id, [...row]);
  else {
    row.forEach((value, c) => {
      sum[c]! += value;
    });
  }
}
