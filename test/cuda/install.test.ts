/**
 * Installing without a compiler, and a package that has a prebuild only: in copies of the package, by its own scripts.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { missing } from '../requirement.js';
import { withSimulated } from './simulated.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const SOURCES = ['.ci', ...['build.mjs', 'addon/binding.gyp', 'addon/src', 'sim', 'ptx'].map((part) => `cuda/${part}`)];

/** A copy of the package as it is after `npm run build`, with nothing native in it. */
function copyPackage(home: string): void {
  for (const part of SOURCES) cpSync(join(root, part), join(home, part), { recursive: true });
  for (const part of ['src', 'chunks', 'workers'])
    cpSync(join(root, 'build', part), join(home, 'build', part), { recursive: true });
  for (const part of ['kernels.wasm', 'kernels-relaxed.wasm', 'kernels-wide.wasm']) {
    if (existsSync(join(root, 'build', part))) cpSync(join(root, 'build', part), join(home, 'build', part));
  }
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'));
  // TypeScript and WASM are built already; every other script is the package's own.
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  manifest.scripts.build = 'node -e 0';
  writeFileSync(join(home, 'package.json'), JSON.stringify(manifest));
}

/** An environment in which node, npm and a shell are all the programs there are. */
function withoutCompilers(home: string): NodeJS.ProcessEnv {
  const bin = join(home, 'bin');
  mkdirSync(bin);
  for (const name of ['sh', 'env']) symlinkSync(`/bin/${name}`, join(bin, name));
  symlinkSync(process.execPath, join(bin, 'node'));
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\nexec '${process.execPath}' '${npmFile()}' "$@"\n`, { mode: 0o755 });
  return { PATH: bin, HOME: home, npm_config_update_notifier: 'false' };
}

/** npm's own file: a link to it would not find its modules. */
function npmFile(): string | undefined {
  const beside = join(dirname(realpathSync(process.execPath)), '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js');
  const { npm_execpath } = process.env;
  return [npm_execpath, beside].find((file) => file !== undefined && existsSync(file) && file.endsWith('npm-cli.js'));
}

const doctor = (home: string, env: NodeJS.ProcessEnv) =>
  spawnSync(process.execPath, [join(home, 'build/src/cli/main.js'), 'doctor', '--json'], {
    // The copy of the folder one is in goes before.
    cwd: home,
    env,
    encoding: 'utf8',
  });

t.test(
  'the install script succeeds without a compiler, and doctor says that the GPU backend is not built',
  async (t) => {
    if (npmFile() === undefined) return t.plan(0, missing('npm', 'it is not beside node'));
    const home = t.testdir();
    copyPackage(home);
    const env = withoutCompilers(home);
    const prepared = spawnSync(join(home, 'bin/npm'), ['run', 'prepare'], { cwd: home, env, encoding: 'utf8' });
    t.equal(prepared.status, 0, prepared.stderr);
    if (process.platform === 'linux') {
      t.match(prepared.stdout, /the GPU backend is not built \(there is no C\+\+ compiler\); the CPU backend works/);
    }
    t.notOk(existsSync(join(home, 'cuda/addon/build')));
    const { status, stdout } = doctor(home, env);
    t.equal(status, 0, 'which is no reason to fail');
    t.match(stdout, /the GPU backend is not built; the CPU backend works/);
    const main = join(home, 'build/src/cli/main.js');
    const cuda = spawnSync(process.execPath, [main, 'train', '--backend', 'cuda', '--steps', '1'], {
      cwd: home,
      env,
      encoding: 'utf8',
    });
    t.same(
      [cuda.status, cuda.stderr.match(/ML_CUDA_ADDON|npm run build:cuda/g)],
      [1, ['ML_CUDA_ADDON', 'npm run build:cuda']],
    );
  },
);

t.test(
  'a package with a prebuild and no build of its own loads the addon and the simulator',
  withSimulated(async (t) => {
    const home = t.testdir();
    copyPackage(home);
    cpSync(join(root, 'cuda/addon/build'), join(home, 'cuda/addon/build'), { recursive: true });
    // What was built is up to date, so this only packs it.
    const packed = spawnSync(process.execPath, ['cuda/build.mjs', '--prebuild'], { cwd: home, encoding: 'utf8' });
    t.equal(packed.status, 0, packed.stdout);
    rmSync(join(home, 'cuda/addon/build'), { recursive: true });
    const env = withoutCompilers(home);
    const script = `import { CudaDriver } from '${home}/build/src/runtime/backends/cuda/driver.js';
      const driver = CudaDriver.open({ driver: 'sim' });
      const buffer = driver.alloc(16);
      driver.upload(buffer, Int32Array.of(1, 2, 3, 4));
      const back = new Int32Array(4);
      driver.download(back, buffer);
      console.log(driver.path, driver.device.name, back.join());`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      env,
      encoding: 'utf8',
    });
    const at = `${process.platform}-${process.arch}`;
    t.match(stdout, new RegExp(`prebuilds/${at}/cuda_sim\\.so PTX simulator.* 1,2,3,4`), stderr);
    t.match(doctor(home, env).stdout, new RegExp(`prebuilds/${at}/monolith-ts\\.napi\\.node`));
  }),
);
