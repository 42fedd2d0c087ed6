/**
 * @file The lookup and the update of a table on a device in one program: launches that are prepared once and repeated.
 */
import { DEVICE_COUNTER } from '../../../memory/device-table-layout.js';
import { BAD_GRADIENTS, SEGMENT, segmentAt, TABLE, TIME_UNKNOWN, UPDATE_RESULT } from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';
import type { Device, DeviceLaunch } from './device.js';
import type { DeviceTable } from './device-table.js';
import { parametersAt, type RowStep, rowStepOf, type StepParameters } from './row-steps.js';

/** Addresses are of the device. */
export interface TablePlaces {
  /** Word that holds how many unique ids a step has. */
  readonly countWord: number;
  readonly ids: number;
  /** Of each id the address of its row, its number, and whether it is new; see `foundBytes`. */
  readonly found: number;
  readonly capacity: number;
  /**
   * Sums of gradients, one row for each of the first ids, and the words that hold how many those are and their time.
   */
  readonly gradients: {
    readonly address: number;
    readonly stride: number;
    readonly countWord: number;
    readonly timeWord: number;
  } | null;
}

/** Bytes of what is found of `capacity` ids: an address of 64 bits and two words for each. */
export function foundBytes(capacity: number): number {
  return capacity * 16;
}

interface SegmentStep {
  readonly launch: DeviceLaunch;
  readonly step: RowStep;
  readonly parameters: StepParameters;
  /** Operand of the count, and the first of the optimizer's own. */
  readonly count: number;
  readonly first: number;
}

interface Launches {
  readonly find: DeviceLaunch;
  readonly take: DeviceLaunch;
  readonly fill: DeviceLaunch;
  readonly admit: DeviceLaunch;
  readonly steps: readonly SegmentStep[];
}

/** Operands that steps change. */
const [COUNT_OF_IDS, COUNT_OF_ADMIT, TIME_OF_ADMIT] = [3, 1, 6];

export class TableUse {
  readonly table: DeviceTable;
  readonly #device: Device;
  readonly #views: Views;
  readonly #places: TablePlaces;
  #launches: Launches | null = null;
  #version = 0;

  constructor(device: Device, views: Views, table: DeviceTable, places: TablePlaces) {
    this.table = table;
    this.#device = device;
    this.#views = views;
    this.#places = places;
  }

  /** Rows of the ids of this step; when they will be updated, there is room for the new ones afterwards. */
  find(): void {
    const { u32 } = this.#views;
    const { countWord, gradients } = this.#places;
    const count = u32[countWord]!;
    if (gradients !== null) this.table.reserve(u32[gradients.countWord]!);
    if (count === 0) return;
    const { find } = this.#ready();
    find.set(COUNT_OF_IDS, count);
    find.start();
  }

  /** Makes rows for new ids that have a gradient, and steps those. 0, or an UPDATE_RESULT. */
  apply(): number {
    const { u32 } = this.#views;
    const { countWord, timeWord } = this.#places.gradients!;
    const count = u32[countWord]!;
    if (count === 0) return 0;
    const { control } = this.table;
    const { take, fill, admit, steps } = this.#ready();
    take.set(COUNT_OF_IDS, count);
    take.start();
    fill.set(COUNT_OF_IDS, count);
    fill.start();
    admit.set(COUNT_OF_ADMIT, count);
    admit.set(TIME_OF_ADMIT, this.#time(u32[timeWord]!));
    admit.start();
    this.table.stepped();
    if (u32[control + TABLE.badGradients] === BAD_GRADIENTS.fail) {
      const before = u32[control + TABLE.badGradientRows]!;
      const bad = this.table.readCounts()[DEVICE_COUNTER.badGradients]!;
      if (bad > before) return UPDATE_RESULT.badGradient;
    }
    for (const { launch, step, parameters, count: at, first } of steps) {
      launch.set(at, count);
      for (let i = 0; i < step.operands.length; i++) launch.set(first + i, step.operands[i]!(parameters));
      launch.start();
    }
    return 0;
  }

  /** The time of rows that are updated: that of the batch, or the latest there was. */
  #time(timeSec: number): number {
    const { i64 } = this.#views;
    const at = (this.table.control + TABLE.maxUpdateTime) / 2;
    let latest = Atomics.load(i64, at);
    if (timeSec === TIME_UNKNOWN) return Math.min(Math.max(Number(latest), 0), 0xffffffff);
    for (const time = BigInt(timeSec); latest < time; ) {
      const found = Atomics.compareExchange(i64, at, latest, time);
      if (found === latest) break;
      latest = found;
    }
    return timeSec;
  }

  #ready(): Launches {
    if (this.#launches === null || this.#version !== this.table.version) {
      this.#launches = this.#prepare();
      this.#version = this.table.version;
    }
    return this.#launches;
  }

  #prepare(): Launches {
    const { ids, found, capacity, gradients } = this.#places;
    const { spans, mask, rowFloats, counters, first, range, control, secret } = this.table;
    const [addresses, rowOf, fresh] = [found, found + capacity * 8, found + capacity * 12];
    const [index, rows] = [spans.index.address, spans.rows.address];
    const prepare = (kernel: string, ...operands: number[]) => this.#device.prepare(kernel, operands);
    const { u32 } = this.#views;
    const { address: gradient, stride } = gradients ?? { address: 0, stride: 0 };
    const { rowsMax } = spans;
    const dim = u32[control + TABLE.dim]!;
    const taken = [spans.ids.address, counters.address, rowsMax, secret];
    const admitted = [spans.times.address, 0, counters.address];
    const values = [first.address, range.address, u32[control + TABLE.seed]!];
    return {
      find: prepare('deviceTableFind', index, mask, ids, 0, rows, rowFloats, rowsMax, rowOf, addresses, secret),
      take: prepare('deviceTableTake', index, mask, ids, 0, rowOf, fresh, ...taken),
      fill: prepare('deviceTableFill', fresh, rowOf, ids, 0, rows, rowFloats, ...values),
      admit: prepare('deviceTableAdmit', rowOf, 0, gradient, stride, dim, ...admitted),
      steps: gradients === null ? [] : this.#segmentSteps(rowOf, gradient, stride),
    };
  }

  #segmentSteps(rowOf: number, gradient: number, stride: number): SegmentStep[] {
    const { spans, rowFloats, control } = this.table;
    const { u32 } = this.#views;
    return Array.from({ length: u32[control + TABLE.segments]! }, (_, index) => {
      const at = segmentAt(control * 4, index);
      const word = (name: 'dim' | 'weightOffset' | 'stateOffset' | 'optimizer') => u32[at / 4 + SEGMENT[name]]!;
      const step = rowStepOf(word('optimizer'));
      const parameters = parametersAt(this.#views, at + SEGMENT.parameters * 4);
      const weights = spans.rows.address + word('weightOffset') * 4;
      const state = spans.rows.address + (u32[control + TABLE.dim]! + word('stateOffset')) * 4;
      const places = step.stateful ? [weights, rowFloats, state, rowFloats] : [weights, rowFloats];
      const of = [rowOf, gradient + word('weightOffset') * 4, stride, 0, word('dim')];
      const operands = [...places, ...of, ...step.operands.map((operand) => operand(parameters))];
      const launch = this.#device.prepare(step.kernel(parameters), operands);
      return { launch, step, parameters, count: places.length + 3, first: places.length + of.length };
    });
  }
}
