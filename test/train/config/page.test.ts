import { readFileSync } from 'node:fs';
import t from 'tap';
import { configPage } from '../../support/config-page.js';

t.test('docs/config.md has every field with its default', async (t) => {
  const page = readFileSync(new URL('../../../../docs/config.md', import.meta.url), 'utf8');
  t.equal(page, configPage(page), 'node docs/generate-config.mjs');
  t.equal(
    page.match(/^\| \w+ \| `--/gm)?.length,
    121 + 1 + 15,
    'flags of RunnerConfig, the one that is linked, and others',
  );
});
