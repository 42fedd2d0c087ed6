/** @file The admission filter that decides by chance. */
import { FEATURE_SLOTS } from '../../memory/filter-layout.js';
import type { SlotOccurrenceThresholdConfig } from '../config/config-messages.js';
import {
  type AdmissionFilter,
  checkFilterOptions,
  type FilterMemory,
  type FilterQuestion,
  FilterScratch,
  putThresholds,
} from './filter-memory.js';

/** Lets an id in by chance, so that it needs no memory: the more often it comes, the sooner it is in. */
export class ProbabilisticFilter implements AdmissionFilter {
  readonly type = 'probabilistic_filter';
  readonly #memory: FilterMemory;
  readonly #scratch: FilterScratch;
  readonly #thresholds: number;
  readonly #chances: number;
  readonly #generator: number;

  /**
   * With `equalProbability` every sighting has the same chance, and an id is in with 95% after its threshold of them.
   */
  constructor(
    options: FilterMemory & {
      readonly thresholds?: SlotOccurrenceThresholdConfig;
      readonly equalProbability?: boolean;
      /** Of this thread's generator. Default: the clock, as upstream. */
      readonly seed?: bigint;
    },
  ) {
    checkFilterOptions('ProbabilisticFilter', options, ['thresholds', 'equalProbability', 'seed']);
    this.#memory = options;
    const { arena, views, kernels } = options;
    this.#scratch = new FilterScratch(options);
    this.#thresholds = putThresholds(options, options.thresholds);
    this.#generator = arena.alloc(16, 'filter generator');
    kernels.seedXorshift(this.#generator, (options.seed ?? process.hrtime.bigint()) | 1n);
    this.#chances = 0;
    if (options.equalProbability === true) {
      this.#chances = arena.alloc(FEATURE_SLOTS * 4, 'filter chances');
      const thresholds = views.u32.subarray(this.#thresholds / 4, this.#thresholds / 4 + FEATURE_SLOTS);
      const chances = Float32Array.from(thresholds, (threshold) => 1 - 0.05 ** (1 / threshold));
      views.f32.set(chances, this.#chances / 4);
    }
  }

  /** Without `present` there is no table and nothing is kept out. */
  shouldFilter(question: FilterQuestion): Uint8Array {
    const { kernels, views } = this.#memory;
    const result = new Uint8Array(question.ids.length);
    const scratch = this.#scratch;
    scratch.each(question, (from, n, at) => {
      const { ids, out } = scratch;
      kernels.filterByChance(this.#generator, ids, at.counts, n, this.#thresholds, this.#chances, at.present, out);
      result.set(views.u8.subarray(out, out + n), from);
    });
    return result;
  }
}
