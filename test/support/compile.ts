/** @file Runs the TypeScript compiler over programs that use the package as its users do. */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { runNode } from '../run-node.js';

const require = createRequire(import.meta.url);

export interface Problem {
  /** Below the folder of the project; '' where it is no file's. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly code: number;
  readonly message: string;
}

export interface Project {
  /** An empty folder inside of this package, so that its own name resolves. */
  readonly folder: string;
  readonly files: Readonly<Record<string, string>>;
  /** Names and values as in a tsconfig.json. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Which package of the compiler: the native one takes a fifth of the time of the other. */
  readonly compiler?: 'typescript' | 'typescript-native';
}

/** What the compiler has to say, with every declaration file checked unless the options say otherwise. */
export async function compile({ folder, files, options, compiler = 'typescript-native' }: Project): Promise<Problem[]> {
  const compilerOptions = { target: 'ES2022', lib: ['ES2022'], strict: true, noEmit: true, ...options };
  const config = { compilerOptions, files: Object.keys(files) };
  for (const [name, text] of Object.entries({ ...files, 'tsconfig.json': JSON.stringify(config) }))
    writeFileSync(join(folder, name), text);
  const tsc = join(dirname(require.resolve(`${compiler}/package.json`)), 'bin/tsc');
  const { code, out, err } = await runNode([tsc, '-p', folder, '--pretty', 'false'], { cwd: folder });
  const problems = problemsIn(out);
  if ((code === 0) !== (problems.length === 0)) throw new Error(`the compiler ended with ${code}: ${out}${err}`);
  return problems;
}

/** Messages of several lines go on in lines that begin with spaces. */
function problemsIn(printed: string): Problem[] {
  return printed.split(/\n(?! )/).flatMap((text) => {
    const [, file = '', line = '0', code, message] =
      /^(?:(.+)\((\d+),\d+\): )?error TS(\d+): ([\s\S]*)$/.exec(text) ?? [];
    return code === undefined ? [] : [{ file, line: Number(line), code: Number(code), message: message!.trim() }];
  });
}
