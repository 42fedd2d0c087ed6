import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { ownIndex, packageIn } from '../../src/base/own-copy.js';
import { commandOfProject } from '../../src/cli/hand-over.js';
import { runNode } from '../run-node.js';

const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const OTHER = {
  'package.json': '{ "name": "monolith-ts", "type": "module", "exports": "./src/index.js" }',
  src: {
    'index.js': '',
    cli: { 'main.js': "console.log('the copy of the project', process.argv.slice(2).join(' '));" },
  },
};

t.test('a project with a copy of its own is handed the command line', async (t) => {
  const project = t.testdir({ 'package.json': '{}', node_modules: { 'monolith-ts': OTHER } });
  t.equal(commandOfProject(project), join(realpathSync(project), 'node_modules/monolith-ts/src/cli/main.js'));
  const ended = await runNode([main, 'train', '--steps', '3'], { cwd: project });
  t.match(ended, { code: 0, out: 'the copy of the project train --steps 3\n' });
});

t.test('this copy, linked or not there, does the work itself', async (t) => {
  const project = t.testdir({ linked: { 'package.json': '{}' } });
  mkdirSync(join(project, 'linked/node_modules'));
  symlinkSync(fileURLToPath(new URL('../../../', import.meta.url)), join(project, 'linked/node_modules/monolith-ts'));
  t.equal(packageIn(join(project, 'linked')), ownIndex());
  t.equal(commandOfProject(join(project, 'linked')), undefined);
});
