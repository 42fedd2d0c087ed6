/** @file `monolith plan`: what a table will take, before anyone trains. */
import { MonolithError } from '../base/errors.js';
import { EntryDumpCodec } from '../io/entry-dump.js';
import { RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES } from '../io/record-writer.js';
import { shardCountOf } from '../io/shard-files.js';
import { ROW_DIM_MAX } from '../memory/limits.js';
import { PARTITIONS } from '../memory/table-layout.js';
import { type PlannedOptimizer, planOptimizer } from '../sparse/config/optimizer-plan.js';
import { rowsThatFit, type TableShape, type TableSize, tableSize } from '../sparse/config/table-size.js';
import type { CliIo } from './io.js';
import { jsonLine, snakeCaseDeep } from './json-line.js';
import type { PlanFlags } from './plan-options.js';
import { bytesText, counted } from './progress-line.js';
import { EXIT_DONE, EXIT_FAILED } from './report.js';

interface PlannedSegment {
  readonly dim: number;
  readonly optimizer: PlannedOptimizer;
  readonly stateFloats: number;
}

interface PlanReport {
  readonly rows: number;
  readonly segments: readonly PlannedSegment[];
  readonly shards: number;
  readonly threads: number;
  /** Of one shard. */
  readonly rowsPerShard: number;
  readonly size: TableSize;
  readonly checkpointBytes: number;
  readonly checkpointFiles: number;
  readonly budgetBytes: number | null;
  /** Null without a budget. */
  readonly fits: boolean | null;
  /** Rows of one shard that fit the budget. */
  readonly rowsThatFit: number | null;
}

/** Prints the plan; 1 when the table does not fit the budget. */
export function runPlanCommand(flags: PlanFlags, io: Pick<CliIo, 'out'>): number {
  const plan = makePlan(flags);
  io.out.write(flags.json ? jsonLine({ event: 'plan', ...planFields(plan) }) : planText(plan));
  return plan.fits === false ? EXIT_FAILED : EXIT_DONE;
}

function makePlan({ rows: allRows, dims = [], optimizer, threads, shards, budget }: PlanFlags): PlanReport {
  const rows = allRows ?? 0;
  const segments = dims.map((dim, i): PlannedSegment => {
    const name = optimizer[i] ?? optimizer[0]!;
    return { dim, optimizer: name, stateFloats: planOptimizer({ [name]: {} }, dim).stateFloats };
  });
  const shape = {
    dim: total(segments.map((segment) => segment.dim)),
    stateFloats: total(segments.map((segment) => segment.stateFloats)),
    segments: segments.length,
    threads,
  };
  if (shape.dim > ROW_DIM_MAX) {
    const reason = `a row of ${shape.dim} floats is too large`;
    throw new MonolithError('ML_FLAG', { flag: '--dims', reason }, { hint: `a row has at most ${ROW_DIM_MAX} in all` });
  }
  const rowsPerShard = Math.ceil(rows / shards);
  const size = sizeOf({ ...shape, rows: rowsPerShard }, rows, shards);
  return {
    rows,
    segments,
    shards,
    threads,
    rowsPerShard,
    size,
    checkpointBytes: rows * recordBytes(segments),
    checkpointFiles: shards * shardCountOf(rowsPerShard),
    budgetBytes: budget,
    fits: budget === null ? null : size.budgetBytes <= budget,
    rowsThatFit: budget === null ? null : rowsThatFit(shape, budget),
  };
}

/** Too many rows for one table are a matter of flags: the hint names the one that helps, with a number that does. */
function sizeOf(shape: TableShape, rows: number, shards: number): TableSize {
  const size = sizeOrTables(shape);
  if (typeof size !== 'number') return size;
  let enough = shards * size;
  while (typeof sizeOrTables({ ...shape, rows: Math.ceil(rows / enough) }) === 'number') {
    enough += Math.ceil(enough / 20);
  }
  const reason = `${shape.rows} rows do not fit one table, which ends at ${PARTITIONS} memories of 4 GiB`;
  throw new MonolithError('ML_FLAG', { flag: '--rows', reason }, { hint: `spread them: --shards ${enough}` });
}

/** The size, or the number of tables that at least are needed when one cannot be so large. */
function sizeOrTables(shape: TableShape): TableSize | number {
  try {
    return tableSize(shape);
  } catch (error) {
    if (error instanceof MonolithError && error.code === 'ML_MEMORY') return Number(error.fields.tables);
    throw error;
  }
}

/** Bytes of one row in a checkpoint, for an update time of these years; batchSoftmax adds a few for its step count. */
function recordBytes(segments: readonly PlannedSegment[]): number {
  const codec = new EntryDumpCodec(segments);
  const row = { ...codec.makeRow(), lastUpdateSec: 1_800_000_000 };
  const bytes = new Uint8Array(codec.maxBytes);
  const size = codec.encode(row, bytes, new DataView(bytes.buffer), 0);
  return RECORD_HEADER_BYTES + size + RECORD_FOOTER_BYTES;
}

/** The plan as programs see it. Bytes of `table` are of one shard. */
function planFields({ size, ...plan }: PlanReport): Readonly<Record<string, unknown>> {
  return snakeCaseDeep({ ...plan, table: size }) as Readonly<Record<string, unknown>>;
}

function planText(plan: PlanReport): string {
  const { rows, segments, shards, rowsPerShard, size } = plan;
  const names = new Set(segments.map((segment) => segment.optimizer));
  const shown = segments.map(({ dim, optimizer }) => (names.size > 1 ? `${dim} (${optimizer})` : String(dim)));
  const all = names.size > 1 ? '' : ` (${[...names][0]})`;
  const title = `${countText(rows)} rows of ${shown.join(' + ')} floats${all}`;
  const lines: [string, number | string, string][] = [
    ['weights', size.weightBytes, ''],
    ['state', size.stateBytes, 'of the optimizer'],
    ['keys', size.keyBytes, `ids, row addresses and times; doubled by ${countText(size.nextGrowthRows)} rows`],
    [
      'slack',
      size.paddingBytes + size.spareBytes,
      `${bytesText(size.paddingBytes)} to make rows ${size.rowBytes} bytes, ${bytesText(size.spareBytes)} free room`,
    ],
    [
      'total',
      size.totalBytes,
      `${size.ratio.toFixed(2)} x weights and state, ${(size.totalBytes / rowsPerShard).toFixed(1)} bytes per row`,
    ],
    ['peak', size.peakBytes, `while indexes grow on ${counted(plan.threads, 'thread')}`],
    ['memories', String(size.banks), `of 4 GiB at most; budget to give: ${bytesText(size.budgetBytes)}`],
    [
      'checkpoint',
      plan.checkpointBytes,
      `in ${counted(plan.checkpointFiles, 'file')}${shards > 1 ? ', all shards' : ''}`,
    ],
  ];
  const text = lines.map(([name, value, note]) => {
    const amount = typeof value === 'number' ? bytesText(value) : value;
    return `  ${name.padEnd(12)}${amount.padStart(10)}   ${note}`.trimEnd();
  });
  if (shards > 1) text.unshift(`each of ${shards} shards, ${countText(rowsPerShard)} rows:`);
  return `${[title, ...text, ...budgetLines(plan)].join('\n')}\n`;
}

function budgetLines({ budgetBytes, fits, rowsThatFit: rows, shards }: PlanReport): string[] {
  if (budgetBytes === null || rows === null) return [];
  const each = shards > 1 ? ' per shard' : '';
  const verdict = fits ? 'fits' : 'does not fit';
  return [`${verdict} a budget of ${bytesText(budgetBytes)}${each}, which holds about ${countText(rows)} rows${each}`];
}

/** 999, 12.3k, 10m, 1.61b: as `--rows` takes them, rounded down to three digits. */
function countText(count: number): string {
  const unit = [
    { size: 1e9, name: 'b' },
    { size: 1e6, name: 'm' },
    { size: 1e3, name: 'k' },
  ].find(({ size }) => count >= size);
  if (unit === undefined) return String(count);
  const value = count / unit.size;
  const digits = value < 10 ? 100 : value < 100 ? 10 : 1;
  return `${Math.floor(value * digits) / digits}${unit.name}`;
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
