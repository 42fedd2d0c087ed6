/**
 * @file The declarations hold in a user's project: without the DOM's library, with every file of them checked, and
 * however the project finds modules.
 */
import { fileURLToPath } from 'node:url';
import t from 'tap';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../', import.meta.url)).replaceAll('\\', '/');
const SOURCE = `import * as ml from 'monolith-ts';
import { TableMemory } from 'monolith-ts/tables';
import { CudaDriver } from 'monolith-ts/cuda';
import { summarizeTrace } from 'monolith-ts/trace';
import * as compat from 'monolith-ts/compat';
// @ts-expect-error: the compiler does look
export const nothing = ml.nothing;
export const names = [ml.Session, TableMemory, CudaDriver, summarizeTrace, compat];
`;

const { ModuleKind, ModuleResolutionKind: Resolution } = ts;
const PROJECTS: Readonly<Record<string, ts.CompilerOptions>> = {
  'Node, no types asked for': { module: ModuleKind.NodeNext, moduleResolution: Resolution.NodeNext, types: [] },
  'a bundler, types of Node': { module: ModuleKind.ESNext, moduleResolution: Resolution.Bundler, types: ['node'] },
  'a bundler, with the DOM': {
    module: ModuleKind.ESNext,
    moduleResolution: Resolution.Bundler,
    types: ['node'],
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
  },
};

/** Messages of all files of a project whose one file is `SOURCE`. */
function problems(options: ts.CompilerOptions): string[] {
  const file = `${root}snippets/project.ts`;
  const all: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts'],
    strict: true,
    skipLibCheck: false,
    noEmit: true,
    ...options,
  };
  const host = ts.createCompilerHost(all);
  const { fileExists, getSourceFile } = host;
  host.fileExists = (name) => name === file || fileExists.call(host, name);
  host.getSourceFile = (name, ...rest) =>
    name === file
      ? ts.createSourceFile(name, SOURCE, ts.ScriptTarget.ES2022, true)
      : getSourceFile.call(host, name, ...rest);
  const program = ts.createProgram([file], all, host);
  return ts.getPreEmitDiagnostics(program).map(({ file: at, start, messageText }) => {
    const line = at && start !== undefined ? at.getLineAndCharacterOfPosition(start).line + 1 : 0;
    return `${at?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

for (const [name, options] of Object.entries(PROJECTS)) {
  t.test(name, async (t) => {
    t.same(problems(options), []);
  });
}
