/**
 * @file Writes assembly/generated/layouts.ts: what kernels and TypeScript both know of shared memory, from src/memory.
 *
 * Names are the same on both sides. TypeScript counts in words and kernels in bytes, so word numbers become byte
 * offsets here. `npm run generate` builds src/ and writes the file; a test compares it with what this makes.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as batch from '../build/src/memory/batch.js';
import * as control from '../build/src/memory/control-layout.js';
import * as decode from '../build/src/memory/decode-layout.js';
import * as dense from '../build/src/memory/dense-layout.js';
import * as dump from '../build/src/memory/dump-layout.js';
import * as filter from '../build/src/memory/filter-layout.js';
import * as idSums from '../build/src/memory/id-sums-layout.js';
import * as kinds from '../build/src/memory/kinds.js';
import * as optimizer from '../build/src/memory/optimizer-layout.js';
import * as pages from '../build/src/memory/pages-layout.js';
import * as program from '../build/src/memory/program-layout.js';
import * as record from '../build/src/memory/record-layout.js';
import * as route from '../build/src/memory/route-layout.js';
import * as secret from '../build/src/memory/secret.js';
import * as sumBlocks from '../build/src/memory/sum-blocks.js';
import * as table from '../build/src/memory/table-layout.js';
import * as touched from '../build/src/memory/touched-layout.js';
import * as trace from '../build/src/memory/trace-layout.js';

/** Words of a structure as byte offsets. */
const words = (...names) => ({ names, type: 'usize', factor: 4 });
/** Sizes in words, which become sizes in bytes under the name that says so. */
const sizes = (...names) => ({
  names,
  type: 'usize',
  factor: 4,
  inline: true,
  rename: (name) => name.replace(/_WORDS$/, '_BYTES'),
});
/** Numbers as they are. */
const numbers = (type, ...names) => ({ names, type, factor: 1 });

/**
 * Put in place of the name, as a literal would be; other constants are folded late, when addresses are formed already.
 */
const inlined = (kind) => ({ ...kind, inline: true });

const SHARED = [
  { file: 'batch.ts', module: batch, kinds: [words('BATCH')] },
  { file: 'control-layout.ts', module: control, kinds: [words('CONTROL'), numbers('i32', 'COMMAND_CAPACITY')] },
  {
    file: 'decode-layout.ts',
    module: decode,
    kinds: [
      words('DECODE', 'CELL', 'NAME', 'TEXT'),
      sizes('CELL_WORDS', 'NAME_WORDS', 'TEXT_WORDS'),
      numbers('u32', 'CELL_KIND', 'CELL_FLAG', 'RULE'),
      numbers('i32', 'DECODED'),
      numbers('usize', 'DECODE_SCRATCH_BYTES'),
      numbers('u32', 'DECODE_LIST_MAX'),
    ],
  },
  { file: 'dense-layout.ts', module: dense, kinds: [words('SHAMPOO', 'SHAMPOO_AXIS'), sizes('SHAMPOO_AXIS_WORDS')] },
  {
    file: 'dump-layout.ts',
    module: dump,
    kinds: [
      words('DUMP_PLAN', 'DUMP_RUN', 'DECODE_PROGRESS'),
      inlined(words('DUMP_PLAN_RUNS', 'DUMP_SIZE_CRCS', 'DUMP_HEADER_CRCS')),
      sizes('DUMP_RUN_WORDS'),
      inlined(numbers('usize', 'RECORD_FRAME', 'ENTRY_ID', 'TAGGED_FLOAT_BYTES')),
      numbers('usize', 'CRC_TABLE_BYTES', 'CRC_SHIFT_BYTES', 'LANE_SET_BYTES', 'TIME_BYTES_MAX'),
      numbers('u32', 'DECODE_END', 'ENCODE_CHUNK', 'LOAD_CHUNK'),
    ],
  },
  {
    file: 'filter-layout.ts',
    module: filter,
    kinds: [words('FILTER', 'FILTER_ELEMENTS'), numbers('u32', 'FILTER_COUNT_MAX', 'KEPT_OUT')],
  },
  {
    file: 'id-sums-layout.ts',
    module: idSums,
    kinds: [
      words('ID_SUMS', 'CARRY', 'CARRIES', 'TALLY'),
      sizes('TALLY_WORDS'),
      numbers('i64', 'CHAIN_MAX'),
      numbers('u32', 'BLOCK_ADDITIONS'),
    ],
  },
  { file: 'kinds.ts', module: kinds, kinds: [numbers('i32', 'BINARY_KIND', 'UNARY_KIND', 'POOLING_TYPE')] },
  {
    file: 'optimizer-layout.ts',
    module: optimizer,
    kinds: [numbers('i32', 'OPTIMIZER_NUMBER'), numbers('usize', 'PARAMETER_BLOCK'), numbers('u32', 'PARAMETER_FLAG')],
  },
  {
    file: 'pages-layout.ts',
    module: pages,
    kinds: [words('RUNS', 'LISTS'), numbers('u32', 'NUMBER_TYPE')],
  },
  {
    file: 'program-layout.ts',
    module: program,
    kinds: [
      words('CONTEXT', 'STAGE', 'INSTRUCTION', 'BINDINGS', 'BINDING', 'CAPTURES', 'CAPTURE'),
      sizes('STAGE_WORDS', 'BINDING_WORDS', 'CAPTURE_WORDS'),
      numbers('i32', 'STATUS'),
      numbers('u32', 'STAGE_KIND', 'BINDING_KIND'),
    ],
  },
  {
    file: 'record-layout.ts',
    module: record,
    kinds: [
      words('PIECE', 'FIELD', 'MATMUL_SHAPE', 'COPY', 'COPY_ROWS', 'UNIQUE_CELL'),
      words('REORDER_INPUT', 'GATHER_OUTPUT', 'LAYOUT_SOURCE', 'SHARD_SERVER'),
      sizes('PIECE_WORDS', 'FIELD_WORDS', 'COPY_WORDS', 'COPY_ROWS_WORDS', 'RECORD_WORDS'),
      numbers('usize', 'UNIQUE_CELL_BYTES'),
    ],
  },
  { file: 'secret.ts', module: secret, kinds: [numbers('usize', 'SECRET_ADDRESS')] },
  {
    file: 'sum-blocks.ts',
    module: sumBlocks,
    kinds: [numbers('i32', 'SUM_BLOCK', 'CHAIN_K', 'SUM_K', 'PAIR_ROWS'), numbers('usize', 'REPEATS')],
  },
  {
    file: 'route-layout.ts',
    module: route,
    kinds: [
      words('ROUTE', 'ROUTE_SLICE'),
      sizes('ROUTE_SLICE_WORDS'),
      inlined(numbers('u32', 'ROUTE_FIRST')),
      numbers('usize', 'ROUTE_CELLS'),
    ],
  },
  {
    file: 'table-layout.ts',
    module: table,
    kinds: [
      words('TABLE', 'SEGMENT', 'PARTITION', 'BLOCK', 'OVERFLOW', 'APPLY_SLICE', 'SCAN_CURSOR'),
      inlined(words('HEAP', 'SEGMENTS')),
      sizes('SEGMENT_WORDS'),
      inlined(numbers('usize', 'SLOT', 'PARTITION_BYTES', 'BUCKET_BYTES', 'APPLY_SLICE_BYTES', 'OVERFLOW_SLOTS')),
      inlined(numbers('u32', 'BLOCK_HEADER_BYTES')),
      numbers('usize', 'SHARE_BYTES'),
      numbers('u32', 'TABLE_FLAG', 'SEGMENT_FLAG', 'BAD_GRADIENTS', 'RETRIEVER', 'COMPRESSOR', 'INITIALIZER'),
      numbers('u32', 'SALTED', 'ROW_FREE', 'ROW_REMOVED', 'ROW_SUMMING', 'ROWS_BLOCK_MIN', 'ROWS_BLOCK_MAX'),
      numbers('u32', 'TIME_UNKNOWN', 'PARTITIONS', 'LOOKUP_CHUNK'),
      numbers('i32', 'UPDATE_RESULT'),
    ],
  },
  {
    file: 'touched-layout.ts',
    module: touched,
    kinds: [
      words('TOUCHED', 'TOUCHED_STRIPE', 'TOUCHED_SLOT', 'STOLEN_PAIR'),
      numbers('usize', 'TOUCHED_HEADER_BYTES', 'TOUCHED_STRIPE_BYTES', 'TOUCHED_SLOT_BYTES'),
      numbers('usize', 'TOUCHED_SCRATCH_BYTES', 'LANE_BYTES'),
      inlined(numbers('u32', 'TOUCHED_SLOT_SHIFT')),
      numbers('u32', 'HOP_RANGE', 'INSERT_RANGE', 'TOUCHED_CHUNK'),
    ],
  },
  {
    file: 'trace-layout.ts',
    module: trace,
    kinds: [
      words('TRACE_RING', 'TRACE_RECORD'),
      numbers('usize', 'TRACE_HEADER_BYTES', 'TRACE_RECORD_BYTES'),
      numbers('u32', 'TRACE_KIND', 'NAME_ID_END'),
    ],
  },
];

const HEAD = `\
// What kernels share with src/memory, under the same names: byte offsets into structures, sizes in bytes, numbers.
// Written by generate-layouts.mjs: do not edit.
`;

const constant = (name, type, value, inline) =>
  `${inline ? '@inline ' : ''}export const ${name}: ${type} = ${value};\n`;

function declaration({ type, factor, inline, rename = (name) => name }, name, value) {
  if (typeof value === 'number') return constant(rename(name), type, value * factor, inline);
  const members = Object.entries(value).map(([key, number]) => `  ${constant(key, type, number * factor, inline)}`);
  return `export namespace ${name} {\n${members.join('')}}\n`;
}

function section({ file, module, kinds }) {
  const declarations = kinds.flatMap((kind) =>
    kind.names.map((name) => {
      if (module[name] === undefined) throw new Error(`${file} has no ${name}`);
      return declaration(kind, name, module[name]);
    }),
  );
  return `\n// src/memory/${file}\n${declarations.join('')}`;
}

export function generateLayouts() {
  return HEAD + SHARED.map(section).join('');
}

export const LAYOUTS_FILE = fileURLToPath(new URL('generated/layouts.ts', import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(LAYOUTS_FILE, generateLayouts());
