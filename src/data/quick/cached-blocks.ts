/** @file Blocks of the rows of a plan, parsed, or as they were kept when they were parsed before. */
import { fromWireError, toWireError, type WireError } from '../../base/error-wire.js';
import type { MonolithError } from '../../base/errors.js';
import type { WasmModule } from '../../base/wasm-types.js';
import { BlockCache } from '../cache/block-cache.js';
import type { CsvForm } from '../files/csv-options.js';
import type { Findings } from '../files/file-rows.js';
import type { Features, Schema } from '../schema.js';
import type { Block } from './block.js';
import { FileBlocks } from './file-blocks.js';
import type { QuickPlan } from './quick-plan.js';
import { keyColumn, stepsInOrder } from './row-stream.js';

/** What a pass over the files found out. */
interface PassEnd {
  readonly forms: readonly (readonly [string, CsvForm])[];
  readonly badRows: number;
  readonly errors: readonly WireError[];
}

export class CachedBlocks {
  readonly #files: FileBlocks;
  readonly #cache: BlockCache | undefined;

  constructor(plan: QuickPlan, module: WasmModule) {
    this.#files = new FileBlocks(plan, module);
    if (plan.cache === undefined) return;
    const { files, features, nulls, cache } = plan;
    const { shard: _, ...options } = plan.options;
    const key = keyColumn(stepsInOrder(plan.steps)!);
    const how = { kind: 'blocks', features, options, nulls, key, specs: this.schema.specs };
    this.#cache = new BlockCache({ dir: cache.dir, files, how });
  }

  get schema(): Schema<Features> {
    return this.#files.schema;
  }

  get findings(): Findings {
    const cache = this.#cache?.found;
    return cache === undefined ? this.#files.findings : { ...this.#files.findings, cache };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Block> {
    if (this.#cache === undefined) {
      yield* this.#files;
      return;
    }
    const { findings } = this.#files;
    const before = findings.badRows;
    const end = (): PassEnd => {
      const badRows = findings.badRows - before;
      const errors = badRows === 0 ? [] : findings.badRowErrors.slice(-badRows).map(toWireError);
      return { forms: [...findings.forms], badRows, errors };
    };
    const found = ({ forms, badRows, errors }: PassEnd) => {
      for (const [file, form] of forms) findings.forms.set(file, form);
      findings.badRows += badRows;
      findings.badRowErrors.splice(0, errors.length, ...errors.map((error) => fromWireError(error) as MonolithError));
    };
    // All feeds of a plan are there: those of rows to predict on go another way.
    yield* this.#cache.through(() => this.#files, end, found) as AsyncGenerator<Block>;
  }
}
