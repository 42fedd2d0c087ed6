/**
 * @file Damages bytes and values by a seeded generator: flips, cuts, doubled and swapped ranges, and the numbers that
 * break readers when they stand in the place of a size.
 */
import { MersenneTwister } from '../../src/base/random.js';

/** Sizes that are off by one, huge, or negative when they are read as signed. */
const NUMBERS = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff];
const VALUES = [
  0,
  -1,
  1.5,
  1e9,
  2 ** 31,
  2 ** 53,
  1e308,
  -0,
  null,
  true,
  '',
  '../../x',
  'a\0b',
  'x'.repeat(5000),
  [],
  {},
];

export class Mutator {
  readonly #random: MersenneTwister;

  constructor(seed: number) {
    this.#random = new MersenneTwister(seed >>> 0);
  }

  /** A number from 0 to `bound`, without it. */
  below(bound: number): number {
    return bound <= 0 ? 0 : this.#random.nextBounded(bound - 1);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  /** `bytes` with one to three changes. */
  bytes(bytes: Uint8Array): Uint8Array {
    let changed: Uint8Array = Uint8Array.from(bytes);
    for (let change = this.below(3); change >= 0; change--) changed = this.#change(changed);
    return changed;
  }

  #change(bytes: Uint8Array): Uint8Array {
    const at = this.below(bytes.length);
    const end = Math.min(bytes.length, at + 1 + this.below(16));
    switch (this.below(7)) {
      case 0:
        if (bytes.length > 0) bytes[at]! ^= 1 << this.below(8);
        return bytes;
      case 1:
        return bytes.subarray(0, at);
      case 2:
        return Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
      case 3:
        return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)]);
      case 4: {
        const number = this.pick(NUMBERS);
        for (let i = 0; i < 4 && at + i < bytes.length; i++) bytes[at + i] = (number / 2 ** (8 * i)) & 0xff;
        return bytes;
      }
      case 5:
        // A varint that goes on: sizes of messages become huge.
        for (let i = at; i < end && i < at + this.below(9); i++) bytes[i]! |= 0x80;
        return bytes;
      default:
        return Buffer.concat([
          bytes.subarray(0, at),
          Uint8Array.from({ length: 1 + this.below(8) }, () => this.below(256)),
          bytes.subarray(at),
        ]);
    }
  }

  /** JSON with a value in it changed, left out, doubled or put elsewhere. */
  json(value: unknown): unknown {
    const copy = structuredClone(value);
    const places: [Record<string, unknown>, string][] = [];
    const visit = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return;
      for (const key of Object.keys(node)) {
        places.push([node as Record<string, unknown>, key]);
        visit((node as Record<string, unknown>)[key]);
      }
    };
    visit(copy);
    if (places.length === 0) return copy;
    for (let change = this.below(2); change >= 0; change--) {
      const [node, key] = this.pick(places);
      const [other, otherKey] = this.pick(places);
      const found = node[key];
      const kind = this.below(5);
      if (kind === 0) node[key] = this.pick(VALUES);
      else if (kind === 1) delete node[key];
      else if (kind === 2 && !contains(other[otherKey], node)) node[key] = other[otherKey];
      else if (kind === 3 && Array.isArray(node)) node.push(structuredClone(found));
      else if (typeof found === 'number')
        node[key] = this.pick([found + 1, found - 1, -found, found * 1e6, found + 0.5]);
      else if (typeof found === 'string') node[key] = Buffer.from(this.bytes(Buffer.from(found))).toString('utf8');
    }
    return copy;
  }
}

function contains(value: unknown, node: unknown): boolean {
  if (value === node) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some((part) => contains(part, node));
}
