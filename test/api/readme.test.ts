/**
 * @file The model of the README is TypeScript too: it compiles as it stands, strictly and without a browser's types.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../../', import.meta.url));

function errorsOf(source: string): string[] {
  const file = `${root}build/readme-model.mts`;
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (name) => name === file || fileExists.call(host, name);
  host.readFile = (name) => (name === file ? source : readFile.call(host, name));
  host.getSourceFile = (name, ...rest) =>
    name === file
      ? ts.createSourceFile(file, source, ts.ScriptTarget.ES2022, true)
      : getSourceFile.call(host, name, ...rest);
  const program = ts.createProgram([file], options, host);
  const checked = program.getSourceFile(file)!;
  return [...program.getSyntacticDiagnostics(checked), ...program.getSemanticDiagnostics(checked)].map(
    ({ start, messageText }) => {
      const line = checked.getLineAndCharacterOfPosition(start!).line + 1;
      return `${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    },
  );
}

t.test('the program of the README compiles', async (t) => {
  const programs = [...readFileSync(`${root}README.md`, 'utf8').matchAll(/^```js\n([\s\S]*?)^```/gm)];
  t.equal(programs.length, 1);
  t.same(errorsOf(programs[0]![1]!), []);
  t.not(errorsOf(programs[0]![1]!.replace('user: users', 'usr: users')).length, 0, 'a misspelt feature does not');
});
