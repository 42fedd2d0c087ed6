/**
 * @file Numbers in pieces: how much of each stretch between two edges lies below a number, from 0 to 1. What a model
 * makes of a number that way may bend at each edge, where the number alone gives it a straight line to start from: ages
 * that earn most in the middle, counts that are 0 mostly. The piecewise linear encoding of Gorishniy and others (2022).
 */
import { MISSING_NUMBER } from '../data/field.js';
import type { Features } from '../data/schema.js';
import type { Tensor } from '../graph/graph.js';
import { clipByValue } from '../graph/ops/clip.js';
import { columns, concatColumns } from '../graph/ops/columns.js';
import { add, greaterEqual, maximum, minimum, sub } from '../graph/ops/elementwise.js';
import { matMul } from '../graph/ops/matmul.js';
import { reshape } from '../graph/ops/shape.js';
import { constant } from '../graph/ops/state.js';

/** Scope of the ops. */
const PIECES = 'pieces';

type Given = Readonly<Record<string, unknown>>;

/** The numbers that have edges, by name: as they are in `seen`, then their pieces, then whether they are missing. */
export function inPieces(features: Features, raw: Given, seen: Given): Map<string, Tensor> {
  const pieced = Object.entries(features).flatMap(([name, { field }]) =>
    field?.role === 'number' && field.edges !== undefined ? [{ name, edges: field.edges }] : [],
  );
  if (pieced.length === 0) return new Map();
  const list = pieced.map(({ edges }) => edges);
  const [first, ...others] = pieced.map(({ name }) => raw[name] as Tensor);
  const x = others.length === 0 ? reshape(first!, [1]) : concatColumns([first!, ...others]);
  return x.graph.nameScope(PIECES, () => {
    const pieces = piecesOf(x, list);
    const missing = sub(1, greaterEqual(x, MISSING_NUMBER / 2));
    let from = 0;
    return new Map(
      pieced.map(({ name, edges }, index) => {
        const start = from;
        from += edges.length - 1;
        const parts = [seen[name] as Tensor, columns(pieces, start, from), columns(missing, index, index + 1)];
        return [name, concatColumns(parts, { name })];
      }),
    );
  });
}

/** All pieces of all numbers side by side, by one product: a number times the slopes of its pieces, cut off. */
function piecesOf(x: Tensor, list: readonly (readonly number[])[]): Tensor {
  const { graph } = x;
  const [rows, width] = [list.length, list.reduce((sum, edges) => sum + edges.length - 1, 0)];
  const [slopes, starts] = [new Float32Array(rows * width), new Float32Array(width)];
  let at = 0;
  for (const [row, edges] of list.entries()) {
    for (let piece = 0; piece + 1 < edges.length; piece++, at++) {
      const [low, high] = [edges[piece]!, edges[piece + 1]!];
      slopes[row * width + at] = 1 / (high - low);
      starts[at] = -(low - middleOf(edges)) / (high - low);
    }
  }
  const of = (pick: (edges: readonly number[]) => number) => constant(graph, list.map(pick), { shape: [rows] });
  // A missing number is below all edges: no piece of it is there. What is beyond them counts as the outermost, so that
  // no product overflows; and less their middle, since floats are finest near 0, and most numbers are near the middle.
  const within = minimum(
    maximum(
      x,
      of((edges) => edges[0]!),
    ),
    of((edges) => edges.at(-1)!),
  );
  const product = matMul(sub(within, of(middleOf)), constant(graph, slopes, { shape: [rows, width] }));
  return clipByValue(add(product, constant(graph, starts, { shape: [width] })), 0, 1);
}

const middleOf = (edges: readonly number[]): number => edges[edges.length >> 1]!;
