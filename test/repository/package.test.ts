import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

interface PackageJson {
  version: string;
  engines: { node: string };
  bin: Record<string, string>;
  scripts: Record<string, string>;
  exports: Record<string, string | { types: string; default: string }>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}
const manifest = JSON.parse(read('package.json')) as PackageJson; // our own file

describe('package.json', () => {
  test('exports files that the build makes', () => {
    const targets = Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [target] : Object.values(target),
    );
    expect(targets.length).toBeGreaterThan(2);
    for (const target of targets)
      expect(existsSync(path.join(root, target.replace(/\*$/, ''))), target).toBe(true);
  });

  test('gives the library to whoever imports the package by its name', () => {
    const script = `import { extract, run } from 'generic-extractor'; console.log(typeof extract, typeof run)`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: root,
      encoding: 'utf8',
    });
    expect({ stdout, stderr }).toEqual({ stdout: 'function function\n', stderr: '' });
  });

  test('has schemas that an editor can be pointed to', () => {
    const script = `import schema from 'generic-extractor/schemas/config.schema.json' with { type: 'json' }; console.log(typeof schema.title)`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(stdout).toBe('string\n');
  });

  test.each(Object.entries(manifest.bin))('names a command %s that starts', (_, file) => {
    expect(read(file)).toMatch(/^#!\/usr\/bin\/env node\n/);
    expect(statSync(path.join(root, file)).mode & 0o111).toBe(0o111);
    const { status, stdout } = spawnSync(process.execPath, [path.join(root, file), '--version'], {
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${manifest.version}\n` });
  });

  test('names every dependency by an exact version', () => {
    const ranges = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).filter(
      ([, range]) => !/^\d+\.\d+\.\d+/.test(range),
    );
    expect(ranges).toEqual([]);
  });
});

describe('the scripts', () => {
  test('use the runtime that an installation brings only in a shell that began after it', () => {
    // a shell remembers where it found “node”, however old that is
    const late = Object.entries(manifest.scripts).filter(([, script]) =>
      /(?:setup\.mjs|npm run [^&]*build)\b.*&& (?!npm )/.test(script),
    );
    expect(late).toEqual([]);
  });
});

describe('the packed package', () => {
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as [{ files: { path: string }[] }]; // what `npm pack --json` prints
  const files = packed.files.map(({ path: file }) => file);

  test('has all that is run and read', () => {
    const needed = [
      'package.json',
      'README.md',
      'CHANGELOG.md',
      'LICENSE',
      'bin/gex.js',
      'bin/component.js',
      'schemas/config.schema.json',
    ];
    expect(files).toEqual(
      expect.arrayContaining([
        ...needed,
        'dist/index.js',
        'dist/index.d.ts',
        'dist/cli/main.js',
        'dist/cli/container.js',
        'dist/licenses.txt',
      ]),
    );
  });

  test('has nothing that is for us alone', () => {
    const folders = new Set(files.map((file) => (file.includes('/') ? file.split('/')[0] : '')));
    expect(folders).toEqual(new Set(['', 'bench', 'bin', 'dist', 'docs', 'schemas']));
    // the picture of the README, and its figures
    expect(files.filter((file) => /^bench\/(?!results\/|README\.md$)/.test(file))).toEqual([]);
    expect(files.filter((file) => /\.test\.|fixture(?!\.schema)s?\/|\.tsbuildinfo$/.test(file))).toEqual([]);
  });

  test('its pages link to what it holds', () => {
    const missing = files
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) =>
        Array.from(read(file).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g), ([, to = '']) =>
          path.posix.normalize(path.posix.join(path.posix.dirname(file), to)),
        )
          .filter((to) => !files.some((each) => each === to || each.startsWith(`${to.replace(/\/$/, '')}/`)))
          .map((to) => `${file} → ${to}`),
      );
    expect(missing).toEqual([]);
  });

  test('imports nothing that is for development alone', () => {
    const pattern =
      /^(?:import .*|export .*|\}) from "([^".][^"]*)";$|^import "([^".][^"]*)";$|\bimport\("([^".][^"]*)"\)/gm;
    const imported = new Set(
      files
        .filter((file) => file.startsWith('dist/') && file.endsWith('.js'))
        .flatMap((file) =>
          [...read(file).matchAll(pattern)].map(([, from, bare, call]) => from ?? bare ?? call ?? ''),
        )
        .filter((name) => !isBuiltin(name))
        .map((name) =>
          name
            .split('/')
            .slice(0, name.startsWith('@') ? 2 : 1)
            .join('/'),
        ),
    );
    expect(imported).toContain('ssh2');
    expect([...imported].filter((name) => !(name in manifest.dependencies))).toEqual([]);
  });
});

describe('the repository', () => {
  test('names no host in the lock file', () => {
    expect(
      read('package-lock.json').match(
        /"resolved":.*|https?:\/\/(?!.*(?:fund|give-to|sponsor|opencollective|github\.com|feross|paulmillr|tidelift|patreon|paypal|buymeacoffee)).*/g,
      ) ?? [],
    ).toEqual([]);
  });

  test('locks the packages of every platform, so that a clean install works on all', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { version?: string; optionalDependencies?: Record<string, string> }>;
    }; // as npm writes it
    const missing = Object.entries(packages).flatMap(([at, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`${at}/node_modules/${name}` in packages) && !(`node_modules/${name}` in packages),
      ),
    );
    expect(missing).toEqual([]);
    expect(Object.entries(packages).filter(([, { version }]) => version === undefined)).toEqual([]);
  });

  test('knows no path of the machine it was written on', () => {
    // built here, so that this file does not hold what it looks for
    const pattern = new RegExp(
      String.raw`(?:^|[\s"'\`(=])/(?:${['home/[a-z]', 'Users/[a-z]', 'root/', 'work/'].join('|')})`,
    );
    const found = tracked().flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, i) => (pattern.test(line) ? [`${file}:${i + 1}: ${line.trim().slice(0, 100)}`] : [])),
    );
    expect(found).toEqual([]);
  });

  test('has scripts that may be run', () => {
    for (const file of ['.ci/run', 'docker/entrypoint.sh', 'docker/health.sh', 'scripts/image.sh'])
      expect(statSync(path.join(root, file)).mode & 0o111, file).toBe(0o111);
  });
});

describe('an old Node', () => {
  test.each(['18.20.4', '20.20.2', '22.18.0'])('%s is told what is needed, in one sentence', (version) => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'gex-package-'));
    cpSync(path.join(root, 'bin'), path.join(folder, 'bin'), { recursive: true });
    writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
    expect(withNode(version, ['--version'], folder)).toEqual({
      status: 2,
      stdout: '',
      stderr: `generic-extractor needs Node 22.19 or newer, and this is Node ${version}.\n`,
    });
    rmSync(folder, { recursive: true });
  });

  test('goes on with the one that was installed beside the command', () => {
    expect(withNode('20.20.2')).toEqual({ status: 0, stdout: `${manifest.version}\n`, stderr: '' });
    const refused = withNode('20.20.2', ['run', '--data', 'nowhere', '--nothing']);
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toContain('--nothing');
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('passes %s on, and ends as the command does', async (name) => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'gex-package-'));
    const child = spawn(process.execPath, [...asNode('20.20.2'), 'demo-api', '--port', '0'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data')]);
    child.kill(name);
    // as a server that is told to stop
    expect(await once(child, 'exit')).toEqual([0, null]);
    rmSync(folder, { recursive: true });
  });

  test.each(['22.19.0', '24.0.0', '26.1.0'])('%s is good enough', (version) => {
    expect(withNode(version)).toEqual({ status: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });

  test('is as old as package.json says', () => {
    expect(manifest.engines.node).toBe('>=22.19');
  });
});

/** Runs the command as if it were run by another Node. */
function withNode(version: string, args: readonly string[] = ['--version'], folder = root) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...asNode(version, folder), ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

function asNode(version: string, folder = root): string[] {
  const fake = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`;
  return ['--import', `data:text/javascript,${encodeURIComponent(fake)}`, path.join(folder, 'bin/gex.js')];
}

/** Text files that git knows. */
function tracked(): string[] {
  const { status, stdout } = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
  expect(status).toBe(0);
  return stdout
    .split('\0')
    .filter(
      (file) =>
        file !== '' && existsSync(path.join(root, file)) && !/\.(?:gz|png|zip|pdf|ico|woff2?)$/.test(file),
    );
}
