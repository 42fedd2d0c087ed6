/**
 * @file Writes assembly/generated/dispatch.ts: which kernel an opcode calls, and which registers it gets, from the
 * kernel table of src/runtime/kernels.
 *
 * `npm run generate` builds src/ and writes the file; a test compares it with what this makes.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { KERNELS } from '../build/src/runtime/kernels/kernels.js';

const WIDTH_MAX = 120;
/** Operands that a call to the host has room for. */
const HOST_OPERANDS = 7;

const HEAD = `\
// Calls the kernel of an opcode with the values of its operands' registers. Written by generate-dispatch.mjs from
// src/runtime/kernels: do not edit.
`;

const IMPORTS = `import { host } from "../host";
import { STATUS } from "./layouts";
`;

const READERS = `
@inline
function u(operands: usize, registers: usize, i: usize): u32 {
  return load<u32>(registers + (<usize>load<u32>(operands + (i << 2)) << 2));
}

@inline
function f(operands: usize, registers: usize, i: usize): f32 {
  return load<f32>(registers + (<usize>load<u32>(operands + (i << 2)) << 2));
}

/** \`o\` is where the numbers of the operands' registers are, \`r\` where the registers are. */
export function dispatch(opcode: u32, o: usize, r: usize): i32 {
  switch (opcode) {
`;

const TAIL = `    default:
      return STATUS.kernel;
  }
}
`;

/** `text`, broken before the argument that would pass the end of the line. */
function wrap(text, args, end) {
  const lines = [text];
  args.forEach((arg, index) => {
    const piece = index === args.length - 1 ? `${arg}${end}` : `${arg},`;
    const line = lines.at(-1);
    if (line.length + 1 + piece.length > WIDTH_MAX) lines.push(`        ${piece}`);
    else lines[lines.length - 1] = line.endsWith('(') ? line + piece : `${line} ${piece}`;
  });
  return lines.map((line) => `${line}\n`).join('');
}

function entry({ name, opcode, module, words, result }) {
  const args = words.map(({ kind }, index) => `${kind === 'float' ? 'f' : 'u'}(o, r, ${index})`);
  const head = `    case ${opcode}: // ${name}\n`;
  if (module === 'host') {
    const rest = Array.from({ length: HOST_OPERANDS - args.length }, () => 0);
    return head + wrap('      return host(', [opcode, ...args, ...rest], ');');
  }
  const call = `${module}.${name}(`;
  if (result !== undefined) return head + wrap(`      return <i32>${call}`, args, ');');
  return `${head}${wrap(`      ${call}`, args, ');')}      return 0;\n`;
}

export function generateDispatch() {
  const kernels = [...KERNELS.values()];
  const modules = [...new Set(kernels.map(({ module }) => module))].filter((module) => module !== 'host').sort();
  const imports = modules.map((module) => `import * as ${module} from "../${module}";\n`).join('');
  return [HEAD, imports, IMPORTS, READERS, ...kernels.map(entry), TAIL].join('');
}

export const DISPATCH_FILE = fileURLToPath(new URL('generated/dispatch.ts', import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(DISPATCH_FILE, generateDispatch());
