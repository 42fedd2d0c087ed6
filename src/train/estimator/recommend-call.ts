/** @file One call of recommend: candidates beside one row, scored by the model, the best of them. */
import { BestOf } from '../../base/best-of.js';
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';

type Rows = Iterable<object> | AsyncIterable<object>;

export interface RecommendOptions {
  /** The feature that candidates differ in. */
  readonly item: string;
  /** Items as ids, or as rows of their columns. Default: all items of `excludeSeen`. */
  readonly candidates?: Iterable<number | bigint | string | object> | AsyncIterable<number | bigint | string | object>;
  /** Rows of the past: items of those that are like the row that is asked for are left out. */
  readonly excludeSeen?: Rows;
  /** Default: 10. */
  readonly top?: number;
  /** Prefix of a checkpoint. Default: the newest one. */
  readonly checkpoint?: string;
  /** Ends it with ML_CANCELLED when it is aborted. */
  readonly signal?: AbortSignal;
}

/** An item that is recommended. */
export interface Recommended {
  readonly item: unknown;
  readonly score: number;
  /** The row that was scored. */
  readonly row: object;
}

const WHERE = 'Estimator.recommend';
const TOP = 10;

type Asked = Readonly<Record<string, unknown>>;

/** ML_OPTION for what is refused before anything is read. */
export function checkRecommendCall(features: readonly string[], row: unknown, options: RecommendOptions): void {
  checkOptions(WHERE, options, ['item', 'candidates', 'excludeSeen', 'top', 'checkpoint', 'signal']);
  const { item, candidates, excludeSeen, top = TOP } = options;
  const refuse = (option: string, reason: string, hint?: string) =>
    new MonolithError('ML_OPTION', { where: WHERE, option, reason }, hint === undefined ? {} : { hint });
  if (typeof row !== 'object' || row === null) throw refuse('row', 'a row is needed, such as { userId: 42 }');
  if (!features.includes(item)) {
    const hint = didYouMean(String(item), features) ?? `the features are ${features.join(', ')}`;
    throw refuse('item', `there is no feature ${String(item)}`, hint);
  }
  if (candidates === undefined && excludeSeen === undefined) {
    throw refuse('candidates', 'nothing says which items there are', 'give candidates, or rows as excludeSeen');
  }
  if (!Number.isInteger(top) || top < 1) throw refuse('top', `top is a count from 1 on, not ${String(top)}`);
}

/** Candidates as rows, and how the best of them are told. */
export interface RecommendPlan {
  readonly rows: () => AsyncGenerator<object, void, undefined>;
  readonly best: BestOf<object>;
  readonly result: () => Recommended[];
}

export async function planRecommend(row: object, options: RecommendOptions): Promise<RecommendPlan> {
  const { item, top = TOP } = options;
  const asked = row as Asked;
  const seen = new Set<string>();
  const items = new Map<string, object>();
  for await (const past of options.excludeSeen ?? []) {
    const values = past as Asked;
    const id = String(values[item]);
    if (!items.has(id)) items.set(id, { [item]: values[item] });
    if (Object.entries(asked).every(([name, value]) => String(values[name]) === String(value))) seen.add(id);
  }
  const best = new BestOf<object>(top);
  return {
    best,
    rows: async function* () {
      for await (const candidate of options.candidates ?? items.values()) {
        const own = typeof candidate === 'object' ? candidate : { [item]: candidate };
        if (!seen.has(String((own as Asked)[item]))) yield { ...own, ...row };
      }
    },
    result: () => best.all.map((one) => ({ item: (one.item as Asked)[item], score: one.score, row: one.item })),
  };
}
