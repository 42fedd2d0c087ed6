/** @file The files of a new project. */
import { packageVersion } from '../../base/package-version.js';

/** Texts by the name of their file; `model` is that of `src/model.ts`. */
export function projectFiles(name: string, model: string): Record<string, string> {
  return {
    'package.json': `${JSON.stringify(packageJson(name), null, 2)}\n`,
    'monolith.config.ts': `import { defineConfig } from 'monolith-ts';

/** Settings of monolith train: flags go before them. */
export default defineConfig({ model: './src/model.ts' });
`,
    'src/model.ts': model,
    'tsconfig.json': `${JSON.stringify(TSCONFIG, null, 2)}\n`,
    '.gitignore': 'node_modules/\ndata/\nruns/\n',
    'README.md': readme(name),
  };
}

function packageJson(name: string) {
  return {
    name:
      name
        .toLowerCase()
        .replace(/[^a-z\d._-]+/g, '-')
        .replace(/^[._-]+/, '') || 'recs',
    private: true,
    type: 'module',
    scripts: { train: 'monolith-ts train', test: 'monolith-ts train --smoke', report: 'monolith-ts report runs/model' },
    dependencies: { 'monolith-ts': `^${packageVersion()}` },
  };
}

const TSCONFIG = {
  compilerOptions: {
    target: 'ES2022',
    module: 'NodeNext',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
  },
  include: ['src', 'monolith.config.ts'],
};

const readme = (name: string): string => `# ${name}

    npm install
    npm run train        trains src/model.ts; runs/model has its checkpoints and report.html
    npm test             tries everything on a few rows: steps, a save, a restore, an export

\`src/model.ts\` says what a row is, what the model is, and where rows come from. \`monolith.config.ts\` has settings;
\`npx monolith-ts train --help\` lists them.
`;
