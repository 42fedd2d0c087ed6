/**
 * @file Writes docs/kernels.md from the kernel table of src/runtime/kernels.
 *
 * `npm run generate` builds src/ and writes the page; a test compares it with what this makes.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CUDA_KERNELS } from '../build/src/runtime/backends/cuda/launch-table.js';
import { KERNELS } from '../build/src/runtime/kernels/kernels.js';

const HEAD = `# Kernels

The kernels that compiled programs call, made from the table in \`src/runtime/kernels\` by \`npm run generate\`. Each
has an AssemblyScript function of this name under \`assembly/\`, a plain TypeScript twin under
\`src/runtime/backends/reference\` and, where it says so, a CUDA function of the same operands.

An operand is read, written (\`(+)=\`: or added to, when \`acc\` is 1) or updated in part. A \`matrix\` is an address
and the elements between two rows, \`x\` and \`xStride\`; a \`stepped\` matrix has a distance between elements too,
\`xStep\`; a \`strided\` one has \`xRowStride\` and \`xColStride\`. \`rows\` are addresses of table rows, \`records\`
hold further addresses.
`;

const TITLES = {
  dense: 'Dense matrices',
  optim: 'Clipping and steps of variables',
  counts: 'Counters',
  sparse: 'Ids and rows of tables',
  table: 'Tables',
  filter: 'Filters',
  host: 'Calls to other memories',
};

const NUMBERS = { count: 'count', flag: 'flag', float: 'float' };

function operand([name, { type, access, element }]) {
  if (type in NUMBERS) return `\`${name}\` ${NUMBERS[type]}`;
  const kind = type === 'address' ? '' : ` ${type}`;
  const of = ['f32', 'words'].includes(element) ? '' : ` of ${element}`;
  return `\`${name}\` ${access === 'none' ? 'handle' : access}${kind}${of}`;
}

function entry({ name, meaning, operands, result }) {
  const notes = [result && `Answers ${result}.`, CUDA_KERNELS.has(name) && 'CUDA too.'].filter(Boolean).join(' ');
  const list = Object.entries(operands).map(operand).join(', ');
  return `### ${name}\n\n\`${meaning.replaceAll('`', '')}\`${notes && ` ${notes}`}\n\n${list}.\n`;
}

export function generateKernels() {
  const kernels = [...KERNELS.values()];
  const sections = Object.entries(TITLES).map(([module, title]) => {
    const own = kernels.filter((kernel) => kernel.module === module).map(entry);
    return `## ${title}\n\n${own.join('\n')}`;
  });
  return `${HEAD}\n${sections.join('\n')}`;
}

export const KERNELS_FILE = fileURLToPath(new URL('kernels.md', import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(KERNELS_FILE, generateKernels());
