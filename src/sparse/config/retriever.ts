/**
 * @file Retrievers: what a lookup shows of a segment's weights while training, and what that does to its gradient.
 *
 * Mirrors runtime/hash_table/retriever. Weights stay as they are; fixed_r8 and one_bit segments show what serving would
 * read back, so that a model learns with the loss it will have.
 */
import { valueOr } from '../../io/message.js';
import type { Views } from '../../memory/views.js';
import type { CompressKernels } from '../../runtime/backends/wasm/calls/compress.js';
import { type FloatCompressorMessage, OneBitMessage } from './config-messages.js';

export interface Retriever {
  readonly dim: number;
  /** Writes what a lookup shows of the weights at `weights`. */
  retrieve(weights: number, out: number): void;
  /** Changes the gradient in place before the optimizer sees it. */
  backward(weights: number, gradient: number, globalStep: bigint): void;
}

export interface RetrieverMemory {
  readonly kernels: CompressKernels;
  readonly views: Views;
  /** A float, the present scale of a one_bit segment: threads that share the segment share the word. */
  readonly scaleAt: number;
}

interface ScaleOptions {
  readonly stepSize: number;
  readonly initScale: number;
  readonly maxScale: number;
}

export interface HashNetOptions extends ScaleOptions {
  readonly amplitude: number;
}

/** The scale of a backward call at `globalStep` that finds `current`: renewed at multiples of the step size. */
export function hashNetScale(options: HashNetOptions, current: number, globalStep: bigint): number {
  return globalStep % BigInt(options.stepSize) === 0n ? grownScale(options, globalStep) : current;
}

/** The scale that lookups of step `globalStep` see, when every step before it had a backward call. */
export function hashNetScaleBefore(options: ScaleOptions, globalStep: bigint): number {
  if (globalStep <= 0n) return Math.fround(options.initScale);
  const stepSize = BigInt(options.stepSize);
  return grownScale(options, ((globalStep - 1n) / stepSize) * stepSize);
}

function grownScale({ initScale, maxScale }: ScaleOptions, step: bigint): number {
  return Math.fround(Math.min(initScale * Math.sqrt(1 + 0.005 * Number(step)), maxScale));
}

/** The retriever a segment trains with: only fixed_r8 and one_bit differ from the raw weights. */
export function makeRetriever(config: FloatCompressorMessage, dim: number, memory: RetrieverMemory): Retriever {
  if (config.fixedR8 !== undefined) return fakeQuantRetriever(config.fixedR8.r ?? 1, dim, memory);
  if (config.oneBit !== undefined) {
    const value = (key: 'stepSize' | 'initScale' | 'maxScale' | 'amplitude') =>
      valueOr(OneBitMessage, config.oneBit!, key);
    const options = {
      stepSize: value('stepSize'),
      initScale: value('initScale'),
      maxScale: value('maxScale'),
      amplitude: value('amplitude'),
    };
    return hashNetRetriever(options, dim, memory);
  }
  return rawRetriever(dim, memory);
}

export function rawRetriever(dim: number, { views }: Pick<RetrieverMemory, 'views'>): Retriever {
  return {
    dim,
    retrieve: (weights, out) => void views.u8.copyWithin(out, weights, weights + dim * 4),
    backward: () => undefined,
  };
}

/** Lookups show the quantized weights; the gradient passes straight through. */
export function fakeQuantRetriever(r: number, dim: number, { kernels }: Pick<RetrieverMemory, 'kernels'>): Retriever {
  return {
    dim,
    retrieve: (weights, out) => kernels.quantizeFixedR8F32(weights, out, dim, r),
    backward: () => undefined,
  };
}

/** Lookups show amplitude * tanh(scale * w), which comes closer to the sign of w as the scale grows with the steps. */
export function hashNetRetriever(options: HashNetOptions, dim: number, memory: RetrieverMemory): Retriever {
  const { kernels, views, scaleAt } = memory;
  const { amplitude } = options;
  const word = scaleAt / 4;
  views.f32[word] = options.initScale;
  return {
    dim,
    retrieve: (weights, out) => kernels.hashNetForwardF32(weights, out, dim, views.f32[word]!, amplitude),
    backward(weights, gradient, globalStep) {
      const scale = hashNetScale(options, views.f32[word]!, globalStep);
      views.f32[word] = scale;
      kernels.hashNetBackwardF32(weights, gradient, dim, scale, amplitude);
    },
  };
}
