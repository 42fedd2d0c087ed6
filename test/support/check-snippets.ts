/**
 * @file Runs the compiler over snippets of programs, right ones and wrong ones.
 *
 * The snippets import the declarations that users get. A line that ends in `// TSnnnn text` must give that one error,
 * with a message that has the text in it; every other line must compile.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

type Tap = typeof import('tap').default;

interface Found {
  readonly line: number;
  readonly code: number;
  readonly message: string;
}

/** Errors of each snippet, from one run of the compiler. */
function compile(sources: ReadonlyMap<string, string>): Map<string, Found[]> {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2024.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.fileExists = (file) => sources.has(file) || ts.sys.fileExists(file);
  host.readFile = (file) => sources.get(file) ?? readFileSync(file, 'utf8');
  host.getSourceFile = (file, ...rest) => {
    const text = sources.get(file);
    return text === undefined
      ? getSourceFile.call(host, file, ...rest)
      : ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  };
  const program = ts.createProgram([...sources.keys()], options, host);
  return new Map(
    [...sources.keys()].map((file) => {
      const source = program.getSourceFile(file)!;
      const errors = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
      const found = errors.map(({ start, code, messageText }) => ({
        line: source.getLineAndCharacterOfPosition(start!).line,
        code,
        message: ts.flattenDiagnosticMessageText(messageText, ' '),
      }));
      return [file, found];
    }),
  );
}

/** Holds each snippet, after `prelude`, to the errors that its lines name. */
export function checkSnippets(tap: Tap, prelude: string, snippets: Readonly<Record<string, string>>): void {
  tap.test('what is right compiles, and each mistake is an error in its own line', async (t) => {
    const home = fileURLToPath(new URL('../snippets/', import.meta.url))
      .replaceAll('\\', '/')
      .replace('/test/', '/');
    const files = new Map(
      Object.entries(snippets).map(([name, body], index) => [
        `${home}${index}.ts`,
        { name, text: `${prelude}${body}\n` },
      ]),
    );
    const errors = compile(new Map([...files].map(([file, { text }]) => [file, text])));
    for (const [file, { name, text }] of files) {
      const wanted = text.split('\n').flatMap((line, at) => {
        const [, code, message] = /\/\/ TS(\d+) (.*)$/.exec(line) ?? [];
        return code === undefined ? [] : [{ line: at, code: Number(code), message: message! }];
      });
      const found = errors.get(file)!;
      t.same(
        found.map(({ line, code }) => ({ line, code })),
        wanted.map(({ line, code }) => ({ line, code })),
        name,
        { found },
      );
      for (const [index, { message }] of wanted.entries())
        t.match(found[index]?.message ?? '', message, `${name}: ${message}`);
    }
  });
}
