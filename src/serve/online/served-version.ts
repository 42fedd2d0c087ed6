/** @file A version of a model that answers: loaded, warmed up, with the requests that are on their way through it. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { MonolithError, messageOf } from '../../base/errors.js';
import { readWhole } from '../../base/files/read-file.js';
import { withLongNumbers } from '../../data/files/json-rows.js';
import type { Features } from '../../data/schema.js';
import { CANDIDATES_FILE, WARMUP_FILE } from '../beside-model.js';
import type { EncodedChunk } from '../chunks.js';
import { type LoadedModel, type LoadModelOptions, openModel } from '../loaded-model.js';
import { columnsOf, type GivenRow } from './columns.js';
import { Gatherer } from './gatherer.js';
import type { ServeMetrics } from './serve-metrics.js';

/** Of how many batches the ids of one are looked for. */
const SAMPLED = 16;
const SAMPLED_IDS = 64;

export class ServedVersion {
  readonly version: string;
  readonly model: LoadedModel;
  readonly gatherer: Gatherer;
  #open = 0;
  #batches = 0;
  #drained: (() => void) | undefined;
  #candidates: readonly GivenRow[] | undefined;

  constructor(version: string, model: LoadedModel, name: string, metrics: ServeMetrics | undefined) {
    this.version = version;
    this.model = model;
    const of = { model: name };
    this.gatherer = new Gatherer(model, (batch) => {
      if (metrics === undefined) return;
      metrics.observe('monolith_batch_rows', of, batch.count);
      metrics.add('monolith_rows_total', of, batch.count);
      if (this.#batches++ % SAMPLED === 0) this.#sample(batch, name, metrics);
    });
  }

  /** Opens the folder of a version and tries it. Whatever is wrong with it is an error here, not in an answer. */
  static async open(
    dir: string,
    options: LoadModelOptions,
    name: string,
    metrics?: ServeMetrics,
  ): Promise<ServedVersion> {
    const model = await openModel<Features>(dir, options);
    try {
      const { dir: folder } = model;
      const made = new ServedVersion(versionOf(folder), model, name, metrics);
      await made.#warmUp(folder);
      return made;
    } catch (error) {
      await model.close();
      throw error;
    }
  }

  /** Requests that are in it. */
  get open(): number {
    return this.#open;
  }

  /** What it is fed and gives, for a comparison with another version: whoever asks this one can ask that one. */
  missingIn(next: ServedVersion): string | undefined {
    const told = ({ model }: ServedVersion) =>
      new Map(columnsOf(model.schema.features).map(({ column, feature }) => [column, kindOf(feature)]));
    const theirs = told(next);
    for (const [column, kind] of told(this)) {
      const other = theirs.get(column);
      if (other === undefined) return `it has no feature ${column}`;
      if (other !== kind) return `its feature ${column} is ${other}, and was ${kind}`;
    }
    for (const [index, head] of this.model.heads.entries()) {
      const other = next.model.heads[index];
      if (other?.name !== head.name)
        return `its output ${index} is ${other?.name ?? 'not there'}, and was ${head.name}`;
      if (other.width !== head.width) return `its output ${head.name} has ${other.width} values, and had ${head.width}`;
    }
    return undefined;
  }

  /** Has `body` answer by this version, which stays open as long. */
  async use<T>(body: () => Promise<T>): Promise<T> {
    this.#open++;
    try {
      return await body();
    } finally {
      this.#open--;
      if (this.#open === 0) this.#drained?.();
    }
  }

  /** Values of each head for rows, gathered with those of others. */
  async score(rows: readonly GivenRow[], signal?: AbortSignal): Promise<Float32Array[]> {
    const { heads } = this.model;
    const chunks = [...this.model.encoded(rows as never, true)];
    const parts = await Promise.all(chunks.map((chunk) => this.gatherer.ask(chunk, signal)));
    if (parts.length === 1) return parts[0]!;
    return heads.map(({ width }, head) => {
      const all = new Float32Array(width * rows.length);
      let at = 0;
      for (const part of parts) {
        all.set(part[head]!, at);
        at += part[head]!.length;
      }
      return all;
    });
  }

  /** Rows of the candidates file; null where there is none. */
  get candidates(): readonly GivenRow[] | null {
    const file = join(this.model.dir, CANDIDATES_FILE);
    if (this.#candidates === undefined && existsSync(file)) this.#candidates = readJsonLines(file);
    return this.#candidates ?? null;
  }

  /** Answers what is on its way and gives its memory back. */
  async close(): Promise<void> {
    if (this.#open > 0) {
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
    }
    await this.gatherer.close();
    await this.model.close();
  }

  async #warmUp(folder: string): Promise<void> {
    const file = join(folder, WARMUP_FILE);
    const rows = existsSync(file) ? readJsonLines(file) : [{}];
    const values = await this.score(rows.slice(0, this.model.room.rows));
    await this.score(rows.slice(0, 1));
    const bad = values.findIndex((list) => !list.every(Number.isFinite));
    if (bad < 0) return;
    const reason = `its output ${this.model.heads[bad]!.name} is no number for a row to warm up with`;
    throw new MonolithError('ML_MODEL', { model: folder, reason });
  }

  /** Counts ids that have no row, of a few: nothing is computed meanwhile. */
  #sample({ feeds }: EncodedChunk, model: string, metrics: ServeMetrics): void {
    for (const feature of this.model.tableOf.keys()) {
      const fed = feeds[feature];
      const ids = fed !== undefined && typeof fed === 'object' && 'splits' in fed ? fed.values : fed;
      if (!(ids instanceof BigInt64Array) || ids.length === 0) continue;
      const some = ids.slice(0, SAMPLED_IDS);
      const known = this.model.tableOfFeature(feature).contains(some);
      metrics.add('monolith_ids_sampled_total', { model, feature }, some.length);
      metrics.add('monolith_ids_unknown_total', { model, feature }, known.filter((one) => one === 0).length);
    }
  }
}

const kindOf = (feature: { readonly kind: string; readonly width?: number }): string =>
  `${feature.kind}${feature.width === undefined ? '' : ` of ${feature.width}`}`;

/** The number a version's folder is named by; 1 of one that has another name. */
const versionOf = (folder: string): string => (/^\d{1,18}$/.test(basename(folder)) ? basename(folder) : '1');

/** Rows of a small file of JSON lines. */
function readJsonLines(file: string): GivenRow[] {
  const lines = readWhole(file, 'modelBytes').toString('utf8').split('\n');
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      JSON.parse(line);
      return [JSON.parse(withLongNumbers(line)) as GivenRow];
    } catch (cause) {
      throw new MonolithError('ML_MODEL', { model: file, reason: `line ${index + 1}: ${messageOf(cause)}` }, { cause });
    }
  });
}
