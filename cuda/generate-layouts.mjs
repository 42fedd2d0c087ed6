/**
 * @file Writes cuda/kernels/layouts.cuh: what CUDA kernels and TypeScript both know, from src/memory and the launches.
 *
 * Names are those of TypeScript; a record is a struct besides. Numbers of words stay numbers of words. `npm run
 * generate` builds src/ and writes the file; a test compares it with what this makes.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as records from '../build/src/memory/device-record-layout.js';
import * as deviceTable from '../build/src/memory/device-table-layout.js';
import * as idSums from '../build/src/memory/id-sums-layout.js';
import * as kinds from '../build/src/memory/kinds.js';
import * as record from '../build/src/memory/record-layout.js';
import * as sumBlocks from '../build/src/memory/sum-blocks.js';
import * as grids from '../build/src/runtime/backends/cuda/launch-grids.js';
import { formatted } from './format.mjs';

const SHARED = [
  { file: 'memory/device-table-layout.ts', module: deviceTable, names: ['DEVICE_COUNTER', 'NO_ROW'] },
  { file: 'memory/id-sums-layout.ts', module: idSums, names: ['CHAIN_MAX', 'BLOCK_ADDITIONS'] },
  {
    file: 'memory/kinds.ts',
    module: kinds,
    names: ['BINARY_KIND', 'UNARY_KIND', 'FUSED_ACTIVATION', 'POOLING_TYPE'],
  },
  { file: 'memory/record-layout.ts', module: record, names: ['MATMUL_SHAPE'] },
  { file: 'memory/sum-blocks.ts', module: sumBlocks, names: ['SUM_BLOCK', 'SUM_K', 'PAIR_ROWS'] },
  { file: 'runtime/backends/cuda/launch-grids.ts', module: grids, names: ['BLOCK_THREADS', 'GEMM_TILE'] },
];

/** `wide` are the members of 64 bits. */
const RECORDS = [
  {
    name: 'DeviceSlot',
    layout: deviceTable.DEVICE_SLOT,
    words: deviceTable.DEVICE_SLOT_WORDS,
    wide: ['id'],
    align: 16,
  },
  {
    name: 'DevicePiece',
    layout: records.DEVICE_PIECE,
    words: records.DEVICE_PIECE_WORDS,
    wide: ['matrix'],
    align: 8,
  },
  {
    name: 'DeviceSource',
    layout: records.DEVICE_SOURCE,
    words: records.DEVICE_SOURCE_WORDS,
    wide: ['address'],
    align: 8,
  },
];

const HEAD = `\
// What CUDA kernels share with src/, under the same names. Written by cuda/generate-layouts.mjs: do not edit.
#pragma once
`;

const constant = (name, value) => `constexpr unsigned ${name} = ${value};\n`;

function section({ file, module, names }) {
  const declarations = names.map((name) => {
    const value = module[name];
    if (value === undefined) throw new Error(`${file} has no ${name}`);
    if (typeof value === 'number') return constant(name, value);
    const members = Object.entries(value).map(([key, number]) => constant(key, number));
    return `namespace ${name} {\n${members.join('')}}\n`;
  });
  return `\n// src/${file}\n${declarations.join('')}`;
}

function struct({ name, layout, words, wide, align }) {
  let [at, text] = [0, ''];
  const spare = (until) => {
    for (; at < until; at++) text += `unsigned unused${at};\n`;
  };
  for (const [key, word] of Object.entries(layout).sort(([, a], [, b]) => a - b)) {
    spare(word);
    const size = wide.includes(key) ? 2 : 1;
    text += `${size === 2 ? 'unsigned long long' : 'unsigned'} ${key};\n`;
    at += size;
  }
  spare(words);
  if (at !== words) throw new Error(`${name} has ${at} words, not ${words}`);
  const size = `static_assert(sizeof(${name}) == ${words * 4}, "as in src/memory");`;
  return `\nstruct __align__(${align}) ${name} {\n${text}};\n${size}\n`;
}

export const CUDA_LAYOUTS_FILE = fileURLToPath(new URL('kernels/layouts.cuh', import.meta.url));

export function generateCudaLayouts() {
  const text = HEAD + SHARED.map(section).join('') + RECORDS.map(struct).join('');
  return formatted(CUDA_LAYOUTS_FILE, text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(CUDA_LAYOUTS_FILE, generateCudaLayouts());
