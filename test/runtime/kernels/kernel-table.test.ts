/**
 * @file The kernel table against what it stands for: functions of assembly/ and cuda/, the page of the docs, `emit`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { CUDA_KERNELS } from '../../../src/runtime/backends/cuda/launch-table.js';
import { TWINS } from '../../../src/runtime/backends/reference/kernels.js';
import { Code } from '../../../src/runtime/compile/code.js';
import { KERNEL, KERNELS } from '../../../src/runtime/kernels/kernels.js';

// Tests run from build/test/runtime/kernels/.
const ROOT = new URL('../../../../', import.meta.url);

/** Lists of parameters by the name of their function, of all files with the ending in a folder. */
function parametersIn(folder: string, ending: string, declaration: RegExp): Map<string, string[]> {
  const files = readdirSync(new URL(folder, ROOT), { recursive: true }) as string[];
  const sources = files
    .filter((file) => file.endsWith(ending))
    .map((file) => readFileSync(new URL(folder + file, ROOT)));
  return new Map(
    sources.flatMap((source) =>
      [...String(source).matchAll(declaration)].map(([, name, list]) => {
        const parameters = list!.split(',').map((parameter) => parameter.trim());
        return [name!, parameters.filter((parameter) => parameter !== '')] as const;
      }),
    ),
  );
}

t.test('functions of assembly/ have the operands of the table, by name and kind', async (t) => {
  const found = parametersIn('assembly/', '.ts', /^export function (\w+)\(([^)]*)\)/gm);
  for (const { name, module, words } of KERNELS.values()) {
    if (module === 'host') continue;
    const kinds = { address: 'usize', count: 'i32', float: 'f32' };
    const parameters = found.get(name)?.map((parameter) => parameter.replace(/: (u32|i32)$/, ': i32'));
    t.same(
      parameters,
      words.map((word) => `${word.name}: ${kinds[word.kind]}`),
      name,
    );
  }
});

t.test('functions of cuda/ have the operands of their launches, by name and kind', async (t) => {
  // Activations are made by macros, of a list of parameters that each of them writes once.
  const activation = readFileSync(new URL('cuda/kernels/activation.cu', ROOT), 'utf8');
  const macros = new Map(
    [...activation.matchAll(/^#define (\w+)\(name, expression\)[\s\\]+KERNEL name\(([^)]*)\)/gm)].map(
      ([, macro, list]) => [macro!, list!.replace(/\\\n/g, '').split(',')] as const,
    ),
  );
  const found = parametersIn('cuda/kernels/', '.cu', /^KERNEL (\w+)\(([^)]*)\)/gm);
  for (const [, macro, name] of activation.matchAll(/^(\w+)\((\w+F32),/gm)) found.set(name!, macros.get(macro!)!);
  const rows = readFileSync(new URL('cuda/kernels/row-optimizers.cu', ROOT), 'utf8').match(
    /^#define ROWS(.*\\\n)*.*$/m,
  )!;
  const macro = rows[0].replace(/^#define ROWS|\\$/gm, '').split(',');
  t.same([...found.keys()].sort(), [...CUDA_KERNELS.keys()].sort(), 'every kernel has its launch');
  for (const { name, operands, words } of CUDA_KERNELS.values()) {
    const parameters = found.get(name)!.flatMap((parameter) => (parameter === 'ROWS' ? macro : [parameter]));
    t.same(
      parameters.map((p) => [/(\w*)\s*$/.exec(p)![1], p.includes('*') ? 'p' : /\bfloat\b/.test(p) ? 'f' : 'u']),
      words.map((word, index) => [word, operands[index]]),
      name,
    );
  }
  const shared = [...CUDA_KERNELS.values()].filter(({ name }) => KERNELS.has(name));
  t.ok(shared.length > 90, `${shared.length} are of the kernel table`);
  for (const { name, words } of shared) {
    t.same(
      words,
      KERNELS.get(name)!.words.map((word) => word.name),
      name,
    );
  }
});

t.test('functions of cuda/ write no number that layouts.cuh has', async (t) => {
  const folder = new URL('cuda/kernels/', ROOT);
  for (const file of readdirSync(folder)) {
    const source = readFileSync(new URL(file, folder), 'utf8').replace(/\/\*\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    if (file === 'layouts.cuh') continue;
    t.notMatch(source, /\bcase \d|(shape|counters)\[\d|\b(kind|pooling|activation) == \d/, `${file} chooses by name`);
    t.notMatch(source, /\b(256|512|4096)\b/, `${file} has no limit of its own`);
  }
});

t.test('twins of the reference have no list of parameters of their own', async (t) => {
  for (const kernel of KERNELS.values()) {
    if (kernel.module === 'host' || kernel === (KERNEL.tableTouch as unknown)) continue;
    t.equal(TWINS.get(kernel.name)?.kernel, kernel, `${kernel.name} takes the words of the table`);
  }
  const own = parametersIn('src/runtime/backends/reference/', '.ts', /^export function (\w+)\(m: Views,([^)]*)\)/gm);
  t.same(
    [...own.keys()].filter((name) => KERNELS.has(name)),
    [],
    'none of them is written as a function of operands in order',
  );
});

t.test('docs/kernels.md is what its generator writes', async (t) => {
  const { generateKernels, KERNELS_FILE } = (await import(new URL('docs/generate-kernels.mjs', ROOT).href)) as {
    generateKernels(): string;
    KERNELS_FILE: string;
  };
  t.equal(readFileSync(KERNELS_FILE, 'utf8'), generateKernels(), 'run `npm run generate`');
});

t.test('emit takes what the table names and nothing else', async (t) => {
  const code = new Code();
  const one = code.constant(1);
  const half = code.constantF32(0.5);
  const matrix = { pointer: one, stride: one };
  const whole = { src: matrix, dst: matrix, rows: one, cols: one, factor: half, acc: one };
  const { acc: _, ...less } = whole;
  const more = { ...whole, columns: one };
  t.doesNotThrow(() => code.emit(KERNEL.scaleF32, whole, { traceName: 0 }));
  // @ts-expect-error: an operand is missing.
  t.throws(() => code.emit(KERNEL.scaleF32, less, { traceName: 0 }), /scaleF32 needs its operand acc/);
  // @ts-expect-error: an operand is left over, though it was spread.
  t.throws(() => code.emit(KERNEL.scaleF32, more, { traceName: 0 }), /scaleF32 has no operand columns/);
  // @ts-expect-error: a count stands where a float belongs.
  code.emit(KERNEL.scaleF32, { ...whole, factor: one }, { traceName: 0 });
  // @ts-expect-error: a number is no register.
  code.emit(KERNEL.scaleF32, { ...whole, rows: 3 }, { traceName: 0 });
  // @ts-expect-error: an address without its stride is no matrix.
  t.throws(() => code.emit(KERNEL.scaleF32, { ...whole, src: one }, { traceName: 0 }), /its operand src/);
});
