// @module-tag thorough
import { expect, test } from 'vitest';
import { configOf, dataFolder, json, startApi, startBuilt } from './support.ts';

/** Tells, when the process ends, which packages that are only for some runs it has loaded, and what its source takes. */
const WATCH = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  import vm from 'node:vm';
  const loaded = new Set();
  let bytes = 0;
  registerHooks({ load: (url, context, next) => {
    const name = /node_modules\\/(got|ssh2|fastify|@duckdb|@aws-sdk|kysely)\\//.exec(url)?.[1];
    if (name !== undefined) loaded.add(name);
    const result = next(url, context);
    if (url.startsWith('file:')) add(String(result.source ?? ''));
    return result;
  } });
  vm.Script = class extends vm.Script {
    constructor(text, options) {
      super(text, options);
      add(text);
    }
  };
  // the runtime keeps it, and one character that is not Latin makes all of them wide
  function add(text) {
    bytes += /[^\\0-\\xff]/.test(text) ? 2 * text.length : text.length;
  }
  process.on('exit', () => console.error('LOADED ' + [...loaded].sort().join(' ') + '. ' + bytes + ' bytes'));
`)}`;

async function loadedBy(storage: string): Promise<{ packages: string | undefined; bytes: number }> {
  const api = await startApi((_request, response) => json(response, [{ id: 1 }]));
  const folder = dataFolder(configOf(api.url, [{ endpoint: 'books' }]));
  const env = { ...process.env, NODE_OPTIONS: `--import=${WATCH}`, NO_PROXY: '*' };
  const args = ['run', '--data', folder, '--storage', storage === 'none' ? storage : `${folder}/storage`];
  const { code, stderr } = await startBuilt(args, { env }).ended;
  expect(code, stderr).toBe(0);
  const [, packages, bytes] = /^LOADED (.*)\. (\d+) bytes$/m.exec(stderr) ?? [];
  return { packages, bytes: Number(bytes) };
}

test('a run without a storage loads nothing of one, and no more source than it needs', async () => {
  const { packages, bytes } = await loadedBy('none');
  expect(packages).toBe('');
  // Live memory that every collection of a long run multiplies. Load what only some runs use when they use it.
  expect(bytes).toBeLessThan(2_000_000);
  expect(bytes).toBeGreaterThan(500_000);
});

test('a run into a folder loads what it needs for that', async () => {
  expect((await loadedBy('folder')).packages).toBe('@duckdb');
});
