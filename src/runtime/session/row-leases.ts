/** @file The leases of a session: which are free, and what a store sees of one. */

import type { Program } from '../compile/compiler.js';
import type { LeasedTable } from '../compile/leased-table.js';
import type { CopyList } from './copy-list.js';
import { PackedLease } from './packed-lease.js';
import type { RowLease } from './row-store.js';
import type { SessionCore } from './session-core.js';
import { commandOf, type StepRunner } from './step-runner.js';

/** A lease of a program that is taken, for the batch of a step. */
export interface TakenLease {
  readonly program: Program;
  readonly lease: number;
  readonly step: number;
}

export class RowLeases {
  readonly #core: SessionCore;
  readonly #runner: StepRunner;
  /** Of each program. */
  readonly #count: number;
  readonly #free = new Map<Program, number[]>();
  readonly #packed = new Map<Program, PackedLease[]>();

  constructor(core: SessionCore, runner: StepRunner, count: number) {
    this.#core = core;
    this.#runner = runner;
    this.#count = count;
  }

  take(program: Program): number {
    let free = this.#free.get(program);
    if (free === undefined) {
      free = Array.from({ length: this.#count }, (_, lease) => this.#count - 1 - lease);
      this.#free.set(program, free);
    }
    return free.pop()!;
  }

  give(program: Program, lease: number): void {
    this.#free.get(program)!.push(lease);
  }

  /** What a store sees. */
  of({ program, lease, step }: TakenLease): RowLease {
    const tables = program.leased(lease);
    const run = async (part: 'pull' | 'push') => void (await this.#runner.run([commandOf(program, part, lease, 0)]));
    let sorted: readonly LeasedTable[] | undefined;
    const byName = () => {
      sorted ??= [...tables].sort((a, b) => (a.name < b.name ? -1 : 1));
      return sorted;
    };
    const copy = async (copies: 'packIds' | 'unpackRows' | 'packGradients') => {
      const packed = this.#packedOf(program, lease, byName());
      await this.#copy(packed[copies](byName()));
      return packed.parts(byName());
    };
    return {
      index: lease,
      step,
      tables,
      packIds: () => copy('packIds'),
      unpackRows: async () => void (await copy('unpackRows')),
      packGradients: () => copy('packGradients'),
      pullHere: () => run('pull'),
      pushHere: () => run('push'),
    };
  }

  async #copy(list: CopyList): Promise<void> {
    if (list.isEmpty) return;
    // What runs before it has ended: nobody has a lease whose ids or gradients are still under way.
    if (this.#core.variables.leaveHome) list.runHere(this.#core.kernels);
    else await this.#runner.run([list.command]);
  }

  #packedOf(program: Program, lease: number, tables: readonly LeasedTable[]): PackedLease {
    let all = this.#packed.get(program);
    if (all === undefined) {
      all = [];
      this.#packed.set(program, all);
    }
    all[lease] ??= new PackedLease(this.#core, tables);
    return all[lease];
  }
}
