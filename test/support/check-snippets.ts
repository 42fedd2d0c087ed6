/**
 * @file Snippets of programs, right ones and wrong ones, and what the compiler has to say of them.
 *
 * A line that ends in `// error: text` must give one error with a message that has the text in it; every other line
 * must compile. Numbers of errors are left out: they change with declarations that are as good as before.
 */
import type { Test } from 'tap';
import type { Problem } from './compile.js';

export interface Snippets {
  /** Stands before each program. */
  readonly prelude: string;
  /** By what they show. */
  readonly programs: Readonly<Record<string, string>>;
}

/** What a compiler is given: programs by the names of their files. */
export function snippetFiles(subject: string, { prelude, programs }: Snippets): Record<string, string> {
  return Object.fromEntries(
    Object.values(programs).map((body, index) => [`${subject}-${index}.ts`, `${prelude}${body}\n`]),
  );
}

/** Holds each program to the errors that its lines name. */
export function checkSnippets(t: Test, subject: string, snippets: Snippets, problems: readonly Problem[]): void {
  const files = Object.entries(snippetFiles(subject, snippets));
  for (const [index, name] of Object.keys(snippets.programs).entries()) {
    const [file, text] = files[index]!;
    const wanted = text.split('\n').flatMap((line, at) => {
      const [, message] = /\/\/ error: (.*)$/.exec(line) ?? [];
      return message === undefined ? [] : [{ line: at + 1, message }];
    });
    const found = problems.filter((problem) => problem.file === file);
    const linesOf = (list: readonly { line: number }[]) => list.map(({ line }) => line);
    t.same(linesOf(found), linesOf(wanted), `${subject}: ${name}`, { found });
    for (const [at, { message }] of wanted.entries()) t.match(found[at]?.message ?? '', message, `${name}: ${message}`);
  }
}
