/** @file The bundle on disk: whether it is that of the sources, and writing another. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundle } from './bundle.mjs';
import { digestFiles } from './digest-files.mjs';

const RECORD = '.bundle.json';
const FOLDERS = /^(src|workers)\//;
/** Where its other files are, in build. */
export const CHUNKS = 'chunks';
/** Files whose changes change it, besides its sources. */
const TOOLS = ['.ci/bundle-files.mjs', '.ci/bundle.mjs', '.ci/chunk-names.mjs'];
/** Not a start: nearly everything is below it, and few import it, so it would split what others load together. */
const LATER = './compat';

export const isBundled = (source) => FOLDERS.test(source);

export class BundleFiles {
  #root;
  #out;
  #sources;
  #record;
  /** Of all that it is made from. */
  digest;

  /** Of `sources`, which are paths from `root`. */
  constructor(root, sources) {
    this.#root = root;
    this.#out = join(root, 'build');
    this.#sources = sources;
    this.digest = digestFiles(root, ['package.json', 'package-lock.json', ...TOOLS, ...sources]);
    const file = join(this.#out, RECORD);
    this.#record = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { files: [] };
  }

  /** What was written, as paths below build. */
  get files() {
    return this.#record.files;
  }

  /** Whether it was written from these sources. */
  get isCurrent() {
    return this.#record.sources === this.digest;
  }

  /** Makes it while `compile` runs, and writes it after: the compiler writes to the same files. */
  async writeAfter(compile) {
    const making = this.isCurrent ? undefined : this.#make();
    // What the compiler says about a mistake is said in place of what the bundler says.
    making?.catch(() => {});
    await compile();
    if (making === undefined && this.#isIntact()) return;
    this.#write(await (making ?? this.#make()));
  }

  #make() {
    const { bin, exports } = JSON.parse(readFileSync(join(this.#root, 'package.json'), 'utf8'));
    const entries = Object.entries(exports).filter(([name]) => name !== LATER);
    const started = [...Object.values(bin), ...entries.map(([, file]) => file.default)];
    const starts = started.map((file) => file.replace(/^(\.\/)?build\//, '').replace(/\.js$/, '.ts'));
    const isProgram = (source) => source.startsWith('workers/') || starts.includes(source);
    return bundle(this.#root, this.#sources, this.#sources.filter(isProgram));
  }

  #isIntact() {
    const { files, texts } = this.#record;
    return files.every((name) => existsSync(join(this.#out, name))) && digestFiles(this.#out, files) === texts;
  }

  #write(texts) {
    rmSync(join(this.#out, RECORD), { force: true });
    for (const [name, text] of texts) {
      mkdirSync(dirname(join(this.#out, name)), { recursive: true });
      writeFileSync(join(this.#out, name), text);
    }
    const files = [...texts.keys()];
    this.#record = { sources: this.digest, files, texts: digestFiles(this.#out, files) };
    writeFileSync(join(this.#out, RECORD), JSON.stringify(this.#record));
  }
}
