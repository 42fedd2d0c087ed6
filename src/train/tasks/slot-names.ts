/** @file Which feature slot a feature of a model is in, and what a slot number is called (native_training/model). */
import { MonolithError } from '../../base/errors.js';

/** Names of features and the numbers of their slots, as a feature list has them. */
export type FeatureList = ReadonlyMap<string, number>;

const NUMBERED = /^(?:fc_)?slot_(\d+)$/;

/** Gives names and numbers the same answer each time, in the order they are asked for. */
export class SlotNames {
  readonly #list: FeatureList;
  readonly #registered = new Map<string, number>();
  #next = 1;

  constructor(list: FeatureList = new Map()) {
    this.#list = list;
  }

  /** The name of a feature that was given by its name or its slot. */
  nameOf(feature: string | number): string {
    if (typeof feature === 'string') return feature;
    for (const [name, slot] of this.#list) if (slot === feature) return name;
    return `fc_slot_${feature}`;
  }

  /** The slot of a feature: that of the list, what was registered, the number in its name, else one of its own. */
  slotOf(name: string): number {
    const known = this.#list.get(name) ?? this.#registered.get(name);
    if (known !== undefined) return known;
    const numbered = NUMBERED.exec(name)?.[1];
    const slot = numbered === undefined ? this.#free() : Number(numbered);
    this.#registered.set(name, slot);
    return slot;
  }

  register(name: string, slot: number): void {
    this.#registered.set(name, slot);
  }

  #free(): number {
    const taken = new Set([...this.#list.values(), ...this.#registered.values()]);
    while (taken.has(this.#next)) this.#next++;
    return this.#next++;
  }
}

/**
 * A feature list as text: a feature a line, its name and its slot as `name slot` or as `feature_name=… slot=…`, in any
 * order; what follows a # is left out.
 */
export function parseFeatureList(text: string, file = 'feature list'): FeatureList {
  const list = new Map<string, number>();
  for (const [index, whole] of text.split('\n').entries()) {
    const line = whole.replace(/#.*/, '').trim();
    if (line === '') continue;
    const words = line.split(/\s+/);
    const fields = new Map(words.map((word) => word.split('=', 2) as [string, string | undefined]));
    const name = fields.get('feature_name') ?? words[0]!;
    const slot = Number(fields.get('slot') ?? words[1]);
    if (!Number.isInteger(slot) || slot < 0) {
      const reason = `${file}, line ${index + 1}: ${line} names no slot`;
      throw new MonolithError('ML_TASK', { reason }, { hint: 'a line is a name and a slot' });
    }
    list.set(name, slot);
  }
  return list;
}
