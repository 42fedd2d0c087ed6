/** @file Ops of a file, element by element: activations, arithmetic, one operand and two. */

import { Activation, LeakyRelu, Prelu, SmoothActivation } from '../../graph/ops/activations.js';
import { Cast } from '../../graph/ops/cast.js';
import { ClipByValue } from '../../graph/ops/clip.js';
import { AddN, Binary, type BinaryKind, Mul, Scale, Sub } from '../../graph/ops/elementwise.js';
import { AddBias, ScaleColumns, ScaleRows } from '../../graph/ops/rows.js';
import { Unary, type UnaryKind } from '../../graph/ops/unary-op.js';
import { BINARY_KIND, UNARY_KIND } from '../../memory/kinds.js';
import { type PortableOp, plain, portable } from '../portable-op.js';

/** Tensors that are added up, or put side by side. */
export const MANY = [1, 2 ** 16] as const;

export const ELEMENTWISE: readonly PortableOp[] = [
  portable(Activation, 1, (given) => ({ kind: given.choice('kind', ['relu', 'sigmoid', 'tanh']) })),
  portable(SmoothActivation, 1, (given) => ({
    kind: given.choice('kind', ['gelu', 'geluTanh', 'swish', 'softplus']),
  })),
  portable(LeakyRelu, 1, (given) => ({ slope: given.number('slope') })),
  plain(Prelu, 2),
  portable(Unary, 1, (given) => ({ kind: given.choice('kind', Object.keys(UNARY_KIND) as UnaryKind[]) })),
  portable(Binary, 2, (given) => ({ kind: given.choice('kind', Object.keys(BINARY_KIND) as BinaryKind[]) })),
  plain(AddN, MANY),
  portable(Scale, 1, (given) => ({ factor: given.number('factor') })),
  plain(Sub, 2),
  plain(Mul, 2),
  plain(AddBias, 2),
  plain(ScaleRows, 2),
  plain(ScaleColumns, 2),
  plain(Cast, 1),
  portable(ClipByValue, 1, (given) => ({ low: given.number('low'), high: given.number('high') })),
];
