import { expect, test } from 'vitest';
import { configOf, dataFolder, json, startApi, startGex } from './support.ts';

/** Tells, when the process ends, which of the packages it has loaded that are only for some runs. */
const WATCH = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const loaded = new Set();
  registerHooks({ load: (url, context, next) => {
    const name = /node_modules\\/(got|ssh2|fastify|@duckdb|@aws-sdk|kysely)\\//.exec(url)?.[1];
    if (name !== undefined) loaded.add(name);
    return next(url, context);
  } });
  process.on('exit', () => console.error('LOADED ' + [...loaded].sort().join(' ') + '.'));
`)}`;

async function loadedBy(storage: string): Promise<string | undefined> {
  const api = await startApi((_request, response) => json(response, [{ id: 1 }]));
  const folder = dataFolder(configOf(api.url, [{ endpoint: 'books' }]));
  const env = { ...process.env, NODE_OPTIONS: `--import=${WATCH}`, NO_PROXY: '*' };
  const args = ['run', '--data', folder, '--storage', storage === 'none' ? storage : `${folder}/storage`];
  const { code, stderr } = await startGex(args, { env }).ended;
  expect(code, stderr).toBe(0);
  return /^LOADED (.*)\.$/m.exec(stderr)?.[1];
}

test('a run without a storage loads nothing of one', async () => {
  expect(await loadedBy('none')).toBe('');
});

test('a run into a folder loads what it needs for that', async () => {
  expect(await loadedBy('folder')).toBe('@duckdb fastify kysely');
});
