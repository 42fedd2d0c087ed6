/**
 * @file Writes docs/api.md: every exported value of the package with the first sentence of its comment.
 *
 * `npm run docs:api` runs it over the declarations of a build; a test holds the page to them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../', import.meta.url));

/** Entry points, as package.json has them: the specifier that is imported, and its declarations. */
export const ENTRIES = Object.fromEntries(
  Object.entries(JSON.parse(readFileSync(`${root}package.json`, 'utf8')).exports).map(([path, { types }]) => [
    `monolith-ts${path.slice(1)}`,
    types.slice(2),
  ]),
);

const HEAD = `# API

Every value that the package exports, with the first sentence of its comment; types are in the declarations. Made by
\`npm run docs:api\` from the build. What is not here is free to change.

`;

const { ModuleKind, ModuleResolutionKind } = ts;
const OPTIONS = {
  module: ModuleKind.NodeNext,
  moduleResolution: ModuleResolutionKind.NodeNext,
  types: [],
  noLib: true,
};

/** Finds the declarations of the package and no others: names and comments need none, and reading them takes long. */
function ownDeclarations() {
  const host = ts.createCompilerHost(OPTIONS);
  host.resolveTypeReferenceDirectiveReferences = (list) =>
    list.map(() => ({ resolvedTypeReferenceDirective: undefined }));
  host.resolveModuleNameLiterals = (list, from) =>
    list.map(({ text }) => {
      const resolvedFileName = text.startsWith('.') && join(dirname(from), text).replace(/\.js$/, '.d.ts');
      return { resolvedModule: resolvedFileName ? { resolvedFileName, extension: '.d.ts' } : undefined };
    });
  return host;
}

/** Sections of the page in order, each `{ title, namespace, same, names }`. A namespace is a section of its own. */
export function readApi() {
  const files = Object.values(ENTRIES).map((file) => root + file);
  const program = ts.createProgram(files, OPTIONS, ownDeclarations());
  const checker = program.getTypeChecker();
  const moduleOf = (file) => checker.getSymbolAtLocation(program.getSourceFile(file));
  const entries = new Map(Object.entries(ENTRIES).map(([entry, file]) => [moduleOf(root + file), entry]));
  const sections = [];
  /** Where a module stands on the page. */
  const shown = new Map();
  const read = (module, title, namespace) => {
    const section = {
      title,
      namespace,
      same: namespace && (shown.get(module) ?? entryText(entries.get(module))),
      names: [],
    };
    sections.push(section);
    if (section.same !== undefined) return;
    shown.set(module, namespace === undefined ? entryText(title) : `\`${namespace}\` of \`${title}\``);
    for (const symbol of checker.getExportsOfModule(module).sort(byName)) {
      if (symbol.declarations.some((node) => ts.isTypeOnlyImportOrExportDeclaration(node))) continue;
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      const isModule = target.flags & ts.SymbolFlags.ValueModule;
      if (isModule) read(target, title, symbol.name);
      else if (target.flags & ts.SymbolFlags.Value) {
        section.names.push({ name: symbol.name, text: sentence(target, checker) });
      }
    }
  };
  for (const [module, entry] of entries) read(module, entry);
  return sections;
}

const entryText = (entry) => entry && `\`${entry}\``;
const byName = (a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1);

/** The first sentence of a declaration's comment, on one line. */
function sentence(symbol, checker) {
  const text = ts
    .displayPartsToString(symbol.getDocumentationComment(checker))
    .replace(/```[\s\S]*/, '')
    .trim();
  const [first = ''] = text.split(/\n\s*\n/);
  return (/^[\s\S]*?[.:;](?=\s|$)/.exec(first)?.[0] ?? first).replace(/\s+/g, ' ').replace(/[:;]$/, '.');
}

export function apiPage(sections = readApi()) {
  const text = sections.map(({ title, namespace, same, names }) => {
    if (same !== undefined) return `### \`${namespace}\` of \`${title}\`\n\nWhat ${same} has.\n`;
    const heading = namespace === undefined ? `## \`${title}\`` : `### \`${namespace}\` of \`${title}\``;
    const before = namespace === undefined ? '' : `${namespace}.`;
    return `${heading}\n\n${names.map(({ name, text }) => `- \`${before}${name}\`: ${text}\n`).join('')}`;
  });
  return HEAD + text.join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(`${root}docs/api.md`, apiPage());
