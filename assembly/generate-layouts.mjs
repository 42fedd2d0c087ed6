/**
 * @file Writes assembly/generated/layouts.ts: what kernels and TypeScript both know of shared memory, from src/memory.
 *
 * Names are the same on both sides. TypeScript counts in words and kernels in bytes, so word numbers become byte offsets
 * here. `npm run generate` builds src/ and writes the file; a test compares it with what this makes.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as batch from '../build/src/memory/batch.js';
import * as control from '../build/src/memory/control-layout.js';
import * as program from '../build/src/memory/program-layout.js';

/** Words of a structure as byte offsets. */
const words = (...names) => ({ names, type: 'usize', factor: 4 });
/** Sizes in words, which become sizes in bytes under the name that says so. */
const sizes = (...names) => ({ names, type: 'usize', factor: 4, rename: (name) => name.replace(/_WORDS$/, '_BYTES') });
/** Numbers as they are. */
const numbers = (type, ...names) => ({ names, type, factor: 1 });

const SHARED = [
  { file: 'batch.ts', module: batch, kinds: [words('BATCH')] },
  {
    file: 'control-layout.ts',
    module: control,
    kinds: [words('CONTROL'), numbers('i32', 'COMMAND_CAPACITY')],
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
];

const HEAD = `// What kernels share with src/memory, under the same names: byte offsets into structures, sizes in bytes, numbers.
// Written by generate-layouts.mjs: do not edit.
`;

const constant = (name, type, value) => `export const ${name}: ${type} = ${value};\n`;

function declaration({ type, factor, rename = (name) => name }, name, value) {
  if (typeof value === 'number') return constant(rename(name), type, value * factor);
  const members = Object.entries(value).map(([key, number]) => `  ${constant(key, type, number * factor)}`);
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
