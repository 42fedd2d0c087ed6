/**
 * @file Writes assembly/dense/gemm-tiles.ts, the register-blocked inner loops of the matrix product.
 *
 * Offsets of loads must be literals in AssemblyScript, so the unrolled steps cannot be written as loops or as inlined
 * functions. `npm run generate` writes the file; a test compares it with what this makes.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Rows, columns and steps of k per turn of the loop over packed panels. */
const TILES = [
  { rows: 4, cols: 8, unroll: 4, why: 'Eight accumulators and the operands are what 16 registers of 128 bits hold.' },
  {
    ...{ rows: 6, cols: 16, unroll: 2 },
    why: 'For engines that join neighbouring vectors to 256 bits: then these are twelve accumulators. Others spill.',
  },
];

const HEAD = `\
// Register-blocked inner loops of the matrix product. Not exported by the module. Written by generate-tiles.mjs: do not
// edit.
//
// Every element is one chain over k in increasing order, from 0, that is added to C when accumulating.
//
// Each unrolled step ends in a real exit test. Without it the compiler lifts all loads of the unrolled body to its top
// and spills the accumulators, which costs a third of the speed.
import { madd } from "./madd";
import { FLOAT, VECTOR } from "../units";
`;

const range = (count) => Array.from({ length: count }, (_, i) => i);

/** Steps of k, each with the addresses of A's elements in it; `advance` moves A on after a turn. */
function loop({ rows, cols }, steps, offsetOfA, advance) {
  const vectors = cols / 4;
  const step = (u) => [
    '{',
    ...range(vectors).map((v) => `  const b${v} = v128.load(b, ${u * vectors + v} * VECTOR);`),
    ...range(rows).flatMap((row) => [
      `  const a${row} = v128.load_splat<f32>(a, ${offsetOfA(row, u)} * FLOAT);`,
      ...range(vectors).map((v) => `  ${sum(row, v)} = madd(a${row}, b${v}, ${sum(row, v)});`),
    ]),
    '}',
    `if (b == end${u}) break;`,
  ];
  return [
    ...range(steps).map((u) => `const end${u} = b + <usize>k * ${cols * 4} - ${(u + 1) * cols * 4};`),
    'while (true) {',
    ...range(steps).flatMap((u) => step(u).map((line) => `  ${line}`)),
    `  a += ${advance};`,
    `  b += ${steps * cols * 4};`,
    '}',
  ];
}

const sum = (row, vector) => `c${row}_${vector}`;

/** The whole tile: sums from zero, the loop, and to C or on top of it. */
function body({ rows, cols }, looped) {
  const vectors = cols / 4;
  const eachRow = (line) =>
    range(rows).flatMap((row) => [
      ...range(vectors).map((v) => line(row, v)),
      ...(row < rows - 1 ? ['row += cStep;'] : []),
    ]);
  const addC = (row, v) => `${sum(row, v)} = f32x4.add(v128.load(row, ${v} * VECTOR), ${sum(row, v)});`;
  const lines = [
    ...range(rows).flatMap((row) => range(vectors).map((v) => `let ${sum(row, v)} = f32x4.splat(0);`)),
    ...looped,
    'if (acc) {',
    ...['let row = c;', ...eachRow(addC)].map((l) => `  ${l}`),
    '}',
    'let row = c;',
    ...eachRow((row, v) => `v128.store(row, ${sum(row, v)}, ${v} * VECTOR);`),
  ];
  return lines.map((line) => `  ${line}`).join('\n');
}

function tile(shape) {
  const { rows, cols, unroll, why } = shape;
  const name = `${rows}x${cols}`;
  const packed = loop(shape, unroll, (row, u) => u * rows + row, unroll * rows * 4);
  const crossed = loop(shape, cols, (row, u) => row * cols + u, 'aStep');
  return `
@inline
function body${name}(k: i32, a: usize, b: usize, c: usize, cStep: usize, acc: bool): void {
${body(shape, packed)}
}

/**
 * ${rows} rows and ${cols} columns of C, k >= 1, from packed panels: ${rows} floats of A per k and ${cols} of B.
 * ${why}
 */
export function tile${name}(k: i32, a: usize, b: usize, c: usize, cStep: usize): void {
  body${name}(k, a, b, c, cStep, false);
}

/** The same, added to C. A function of its own: sums that may start in two ways are not joined to 256 bits. */
export function tileAdd${name}(k: i32, a: usize, b: usize, c: usize, cStep: usize): void {
  body${name}(k, a, b, c, cStep, true);
}

@inline
function crossed${name}(k: i32, a: usize, aStep: usize, b: usize, c: usize, cStep: usize, acc: bool): void {
${body(shape, crossed)}
}

/** As tile${name}, of rows of A packed as B is: ${cols} of the k in a row of a panel, panels \`aStep\` apart. */
export function tileCrossed${name}(k: i32, a: usize, aStep: usize, b: usize, c: usize, cStep: usize): void {
  crossed${name}(k, a, aStep, b, c, cStep, false);
}

/** The same, added to C. */
export function tileCrossedAdd${name}(k: i32, a: usize, aStep: usize, b: usize, c: usize, cStep: usize): void {
  crossed${name}(k, a, aStep, b, c, cStep, true);
}
`;
}

export function generateTiles() {
  return HEAD + TILES.map(tile).join('');
}

export const TILES_FILE = fileURLToPath(new URL('dense/gemm-tiles.ts', import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(TILES_FILE, generateTiles());
