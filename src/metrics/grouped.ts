/**
 * @file Metrics over groups of examples, such as the impressions of one user: AUC within groups, NDCG and recall of the
 * first k. They keep every example.
 */
import { auc, weightedAuc } from './auc.js';
import { Column } from './column.js';
import { checkPortion, type GroupKeys, type Metric, refuse, sameKind } from './metric.js';

interface Group {
  readonly labels: Float64Array;
  readonly scores: Float64Array;
  readonly weights: Float64Array;
}

abstract class Grouped implements Metric {
  abstract readonly name: string;
  readonly #numbers = new Map<bigint | number | string, number>();
  readonly #groups = new Column();
  readonly #labels = new Column();
  readonly #scores = new Column();
  readonly #weights = new Column();

  /** Value and weight of a group, null for one that has no value. */
  protected abstract ofGroup(group: Group): { readonly value: number; readonly weight: number } | null;

  protected checkMore(_weights: ArrayLike<number> | undefined): void {}

  update(
    labels: ArrayLike<number>,
    predictions: ArrayLike<number>,
    weights?: ArrayLike<number>,
    groups?: GroupKeys,
  ): void {
    if (groups === undefined) throw refuse(this.name, 'it needs a group for each example');
    checkPortion(this.name, labels, { predictions, weights, groups });
    this.checkMore(weights);
    this.#groups.append(Float64Array.from({ length: groups.length }, (_, i) => this.#numberOf(groups[i]!)));
    this.#labels.append(labels);
    this.#scores.append(predictions);
    this.#weights.append(weights ?? new Float64Array(labels.length).fill(1));
  }

  merge(other: Metric): void {
    const from = sameKind<Grouped>(this, other);
    const keys = [...from.#numbers.keys()];
    this.#groups.append(from.#groups.values.map((group) => this.#numberOf(keys[group]!)));
    this.#labels.append(from.#labels.values);
    this.#scores.append(from.#scores.values);
    this.#weights.append(from.#weights.values);
  }

  result(): number | null {
    let [sum, total] = [0, 0];
    for (const group of this.#each()) {
      const found = this.ofGroup(group);
      if (found === null) continue;
      sum += found.value * found.weight;
      total += found.weight;
    }
    return total === 0 ? null : sum / total;
  }

  #numberOf(key: bigint | number | string): number {
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#numbers.size;
      this.#numbers.set(key, number);
    }
    return number;
  }

  /** Examples of each group side by side, by one pass of counting. */
  *#each(): Generator<Group> {
    const groups = this.#groups.values;
    const ends = new Uint32Array(this.#numbers.size + 1);
    for (const group of groups) ends[group + 1]!++;
    for (let g = 0; g < this.#numbers.size; g++) ends[g + 1]! += ends[g]!;
    const next = ends.slice();
    const sorted = [this.#labels, this.#scores, this.#weights].map(() => new Float64Array(groups.length));
    const columns = [this.#labels.values, this.#scores.values, this.#weights.values];
    groups.forEach((group, i) => {
      const to = next[group]!++;
      for (let column = 0; column < 3; column++) sorted[column]![to] = columns[column]![i]!;
    });
    for (let g = 0; g < this.#numbers.size; g++) {
      const [labels, scores, weights] = sorted.map((values) => values.subarray(ends[g], ends[g + 1])) as [
        Float64Array,
        Float64Array,
        Float64Array,
      ];
      yield { labels, scores, weights };
    }
  }
}

/**
 * AUC within each group, averaged with the group's number of examples (the sum of their weights); groups of one class
 * are skipped.
 */
export class GroupedAuc extends Grouped {
  readonly name = 'gauc';

  protected ofGroup({ labels, scores, weights }: Group) {
    const even = weights.every((weight) => weight === weights[0]);
    const value = even ? auc(labels, scores) : weightedAuc(labels, scores, weights);
    return value === null ? null : { value, weight: weights.reduce((sum, weight) => sum + weight, 0) };
  }
}

/** Ranked metrics: the mean over groups that have a label above 0. Ties share their places evenly. */
abstract class Ranked extends Grouped {
  readonly name: string;
  readonly #k: number;

  constructor(name: string, k: number) {
    super();
    if (!Number.isInteger(k) || k < 1) throw refuse(name, `${k} is no number of places`);
    this.#k = k;
    this.name = `${name}@${k}`;
  }

  protected abstract gain(label: number): number;
  protected abstract placeValue(place: number): number;
  /** The most a group can reach. */
  protected abstract best(gains: Float64Array, k: number): number;

  protected override checkMore(weights: ArrayLike<number> | undefined): void {
    if (weights !== undefined) throw refuse(this.name, 'a rank has no weight');
  }

  protected ofGroup({ labels, scores }: Group) {
    if (!labels.some((label) => label > 0)) return null;
    const gains = labels.map((label) => this.gain(label));
    const order = Array.from(scores.keys()).sort((a, b) => scores[b]! - scores[a]!);
    let value = 0;
    for (let start = 0; start < Math.min(order.length, this.#k); ) {
      let end = start;
      let sum = 0;
      while (end < order.length && scores[order[end]!] === scores[order[start]!]) sum += gains[order[end++]!]!;
      const mean = sum / (end - start);
      for (; start < end; start++) if (start < this.#k) value += mean * this.placeValue(start);
    }
    return { value: value / this.best(gains, this.#k), weight: 1 };
  }
}

/** Sum of (2^label - 1) / log2(place + 1) over the first k, over that of the best order. */
export class NdcgAtK extends Ranked {
  constructor(k: number) {
    super('ndcg', k);
  }

  protected gain(label: number): number {
    return 2 ** Math.max(0, label) - 1;
  }

  protected placeValue(place: number): number {
    return 1 / Math.log2(place + 2);
  }

  protected best(gains: Float64Array, k: number): number {
    const sorted = gains.toSorted().reverse();
    return sorted.subarray(0, k).reduce((sum, gain, place) => sum + gain * this.placeValue(place), 0);
  }
}

/** Share of the positives of a group that are among its first k. */
export class RecallAtK extends Ranked {
  constructor(k: number) {
    super('recall', k);
  }

  protected gain(label: number): number {
    return Number(label > 0);
  }

  protected placeValue(): number {
    return 1;
  }

  protected best(gains: Float64Array): number {
    return gains.reduce((sum, gain) => sum + gain, 0);
  }
}
