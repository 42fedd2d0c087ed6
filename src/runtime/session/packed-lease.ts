/**
 * @file The ids, rows and gradients of a lease packed for each owner: all tables one after the other, without gaps, as
 * whoever sends them wants them. Mirrors the packed transfers of native_training/distributed_ps.
 *
 * The threads of the session make the copies. Tables come in the order of their names.
 */
import type { LeasedTable } from '../compile/leased-table.js';
import { CopyList } from './copy-list.js';
import type { PackedPart, PackedTable } from './packed-part.js';
import type { SessionCore } from './session-core.js';

type What = 'ids' | 'rows' | 'gradients';
const ITEM_BYTES = { ids: 8, rows: 4, gradients: 4 } as const;

export class PackedLease {
  readonly #core: SessionCore;
  /** Addresses, and the lists of copies: rows go the other way. */
  readonly #at: Readonly<Record<What, number>>;
  readonly #lists: Readonly<Record<What, CopyList>>;

  /** Room for the most that the tables can have. */
  constructor(core: SessionCore, tables: readonly LeasedTable[]) {
    this.#core = core;
    const block = (what: What) => {
      const items = tables.reduce((sum, { dim, capacity }) => sum + capacity * (what === 'ids' ? 1 : dim), 0);
      return core.arena.alloc(items * ITEM_BYTES[what], `packed ${what}`);
    };
    this.#at = { ids: block('ids'), rows: block('rows'), gradients: block('gradients') };
    const list = (name: string) => new CopyList(core, name);
    this.#lists = { ids: list('pack ids'), rows: list('unpack rows'), gradients: list('pack gradients') };
  }

  /** The copies of ids. What the lease has is known by then. */
  packIds(tables: readonly LeasedTable[]): CopyList {
    return this.#add(this.#cleared('ids'), 'ids', tables);
  }

  /** The copies of rows, to the tables. */
  unpackRows(tables: readonly LeasedTable[]): CopyList {
    return this.#add(this.#cleared('rows'), 'rows', tables);
  }

  /** The copies of gradients, and of their ids. */
  packGradients(tables: readonly LeasedTable[]): CopyList {
    return this.#add(this.#add(this.#cleared('gradients'), 'ids', tables), 'gradients', tables);
  }

  #cleared(what: What): CopyList {
    const list = this.#lists[what];
    list.clear();
    return list;
  }

  #add(list: CopyList, what: What, tables: readonly LeasedTable[]): CopyList {
    let at = this.#at[what];
    for (let owner = 0; owner < ownersOf(tables); owner++) {
      for (const { dim, stride, parts } of tables) {
        const part = parts[owner]!;
        const item = ITEM_BYTES[what];
        const bytes = what === 'ids' ? item : dim * item;
        const apart = what === 'ids' ? item : stride * item;
        const rows = what === 'gradients' ? part.trained : part.ids.length;
        const there = part[what].byteOffset;
        if (what === 'rows') list.addRows(at, there, { rows, bytes, fromBytes: bytes, toBytes: apart });
        else list.addRows(there, at, { rows, bytes, fromBytes: apart, toBytes: bytes });
        at += rows * bytes;
      }
    }
    return list;
  }

  /** Views of what is packed, by owner. */
  parts(tables: readonly LeasedTable[]): readonly PackedPart[] {
    const { i64, f32 } = this.#core.views;
    const at = { ids: this.#at.ids / 8, rows: this.#at.rows / 4, gradients: this.#at.gradients / 4 };
    return Array.from({ length: ownersOf(tables) }, (_, owner): PackedPart => {
      const first = { ...at };
      const packed = tables.map(({ name, dim, parts }): PackedTable => {
        const { ids, trained } = parts[owner]!;
        const [id, row, gradient] = [at.ids, at.rows, at.gradients];
        at.ids += ids.length;
        at.rows += ids.length * dim;
        at.gradients += trained * dim;
        return {
          name,
          dim,
          trained,
          ids: i64.subarray(id, at.ids),
          rows: f32.subarray(row, at.rows),
          gradients: f32.subarray(gradient, at.gradients),
        };
      });
      return {
        tables: packed,
        ids: i64.subarray(first.ids, at.ids),
        rows: f32.subarray(first.rows, at.rows),
        gradients: f32.subarray(first.gradients, at.gradients),
      };
    });
  }
}

function ownersOf(tables: readonly LeasedTable[]): number {
  return tables[0]?.parts.length ?? 0;
}
