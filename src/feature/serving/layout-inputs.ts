/**
 * @file The looked-up embeddings of a batch in the forms of the five versions, brought to one: sources.
 *
 * A source is a run of floats and what one step of the low word of fid_offset moves in it, so that the loops below the
 * layout op know nothing of versions.
 */
import { MonolithError } from '../../base/errors.js';
import type { LayoutPlan } from './layout-plan.js';
import { type RequestSizes, SHARED_FLAG, type ShardedFids } from './sharding-sparse-fids.js';

/** Embeddings as the lookup gives them. Lists are ordered table * psNum + server unless said otherwise. */
export type LayoutEmbeddings =
  /** One matrix per list; `dims` are their widths. */
  | { readonly version: 1; readonly embeddings: readonly Float32Array[]; readonly dims: readonly number[] }
  /** One vector per list, with the rows of each feature of the table. */
  | { readonly version: 2; readonly embeddings: readonly Float32Array[]; readonly rowSplits: readonly Int32Array[] }
  | { readonly version: 3; readonly embeddings: readonly Float32Array[] }
  /** One vector for all lists, server by server; `segmentSizes` counts floats per (server, table). */
  | { readonly version: 4; readonly embeddings: readonly [Float32Array]; readonly segmentSizes: Int32Array }
  /** Several requests: each vector holds the parts of all of them; `embSize` counts floats per (request, list). */
  | {
      readonly version: 5;
      readonly embeddings: readonly Float32Array[];
      readonly embSize: Int32Array;
      readonly requests: readonly RequestSizes[];
    };

export interface LayoutSource {
  readonly data: Float32Array;
  /** Floats per step of the low word. */
  readonly unit: number;
}

export type LayoutOffsets = Pick<ShardedFids, 'nflOffset' | 'featureOffset' | 'fidOffset' | 'batchSize'>;

/** One request: its offsets, its embeddings, and where its rows begin in the outputs. */
export interface LayoutRequest extends LayoutOffsets {
  readonly sources: readonly LayoutSource[];
  readonly firstRow: number;
}

/** Where the samples of a feature are in a request; null when it has none. */
export interface FeatureSpan {
  readonly shared: boolean;
  readonly firstSample: number;
  readonly sampleCount: number;
}

/** The requests of a call; versions before 5 have one. */
export function layoutRequests(
  plan: LayoutPlan,
  embeddings: LayoutEmbeddings,
  offsets: LayoutOffsets,
): LayoutRequest[] {
  const lists = plan.order.tables.length * plan.psNum;
  if (embeddings.version !== 4 && embeddings.embeddings.length !== lists) {
    throw failure(`there are ${embeddings.embeddings.length} embeddings for ${lists} lists`);
  }
  const requests =
    embeddings.version === 5
      ? severalRequests(embeddings, offsets, lists)
      : [{ ...offsets, sources: sourcesOf(plan, embeddings), firstRow: 0 }];
  requests.forEach(checkSamples);
  return requests;
}

/** Samples follow each other and end within the ids: the loops and kernels below trust it. */
function checkSamples({ featureOffset, fidOffset }: LayoutOffsets): void {
  let before = 0;
  for (const at of featureOffset) {
    if (at < before || at > fidOffset.length) {
      throw failure(`feature_offset goes from ${before} to ${at}, with ${fidOffset.length} ids`);
    }
    before = at;
  }
}

function failure(reason: string): MonolithError {
  return new MonolithError('ML_LAYOUT', { layout: 'input', reason });
}

function sourcesOf(plan: LayoutPlan, given: Exclude<LayoutEmbeddings, { version: 5 }>): LayoutSource[] {
  const { psNum, order } = plan;
  switch (given.version) {
    case 1:
      return given.embeddings.map((data, i) => ({ data, unit: given.dims[i]! }));
    case 2:
      return order.tables.flatMap(({ features }, t) =>
        Array.from({ length: psNum }, (_, server) => {
          const list = t * psNum + server;
          const splits = given.rowSplits[list]!;
          let at = 0;
          return features.map(({ dim }, f) => {
            const size = (splits[f + 1]! - splits[f]!) * dim;
            at += size;
            return { data: given.embeddings[list]!.subarray(at - size, at), unit: dim };
          });
        }).flat(),
      );
    case 3:
      return given.embeddings.map((data) => ({ data, unit: 1 }));
    case 4: {
      const tables = order.tables.length;
      const sources: LayoutSource[] = [];
      let at = 0;
      given.segmentSizes.forEach((size, segment) => {
        const list = (segment % tables) * psNum + Math.floor(segment / tables);
        sources[list] = { data: given.embeddings[0].subarray(at, at + size), unit: 1 };
        at += size;
      });
      if (given.segmentSizes.length !== tables * psNum || at !== given.embeddings[0].length) {
        throw failure(`segments of together ${at} floats do not make ${given.embeddings[0].length}`);
      }
      return sources;
    }
    default:
      given satisfies never;
      throw failure('the version is unknown');
  }
}

function severalRequests(
  given: Extract<LayoutEmbeddings, { version: 5 }>,
  offsets: LayoutOffsets,
  lists: number,
): LayoutRequest[] {
  const at = { row: 0, nfl: 0, feature: 0, fid: 0, list: new Int32Array(lists) };
  const requests = given.requests.map(({ batchSize, nflSize, featureSize, fidSize }, r) => {
    const sources = given.embeddings.map((data, list) => {
      const begin = at.list[list]!;
      at.list[list] = begin + given.embSize[r * lists + list]!;
      return { data: data.subarray(begin, at.list[list]), unit: 1 };
    });
    const request = {
      sources,
      batchSize,
      firstRow: at.row,
      nflOffset: offsets.nflOffset.subarray(at.nfl, at.nfl + nflSize),
      featureOffset: offsets.featureOffset.subarray(at.feature, at.feature + featureSize),
      fidOffset: offsets.fidOffset.subarray(at.fid, at.fid + fidSize),
    };
    at.row += batchSize;
    at.nfl += nflSize;
    at.feature += featureSize;
    at.fid += fidSize;
    return request;
  });
  if (at.row !== offsets.batchSize) throw failure(`requests of ${at.row} rows do not make ${offsets.batchSize}`);
  return requests;
}

/** The samples of feature `index` of a request; null when there are none for it. */
export function spanOf({ nflOffset, featureOffset, batchSize }: LayoutOffsets, index: number): FeatureSpan | null {
  const own = nflOffset[index];
  const next = nflOffset[index + 1];
  if (own === undefined || next === undefined) throw failure(`feature ${index} is not in nfl_offset`);
  const shared = own >= SHARED_FLAG;
  const firstSample = own % SHARED_FLAG;
  const span = (next % SHARED_FLAG) - firstSample;
  if (span === 0) return null;
  const sampleCount = shared ? 1 : batchSize;
  if (span < sampleCount || firstSample + sampleCount >= featureOffset.length) {
    throw failure(`feature ${index} has ${span} samples for ${sampleCount} rows`);
  }
  return { shared, firstSample, sampleCount };
}
