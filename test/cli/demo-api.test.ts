import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { dataFolder, filesOf, gexHere, startGex } from './support.ts';

test('serves what the configuration that it saves asks for, and shows the requests', async () => {
  const folder = path.join(dataFolder(), 'my-api');
  const running = startGex(['demo-api', '--port', '0', '--save', folder]);
  const file = path.join(folder, 'config.json');
  await expect.poll(() => filesOf(folder)['config.json'] ?? '').toContain('baseUrl');
  const validated = await gexHere('validate', '--strict', '--data', folder);
  expect(validated).toMatchObject({ code: 0 });
  const run = await gexHere('run', '--data', folder, '--storage', 'none');
  expect(run).toMatchObject({ code: 0 });
  expect(run.stdout).toMatch(/^library\.books +7 /m);
  const { baseUrl } = (JSON.parse(readFileSync(file, 'utf8')) as { parameters: { api: { baseUrl: string } } })
    .parameters.api;
  expect((await fetch(`${baseUrl}search`, { method: 'POST', body: 'no JSON' })).status).toBe(400);
  expect(
    await (await fetch(`${baseUrl}search`, { method: 'POST', body: '{"q":"SEA"}' })).json(),
  ).toMatchObject({ hits: [{ book: 1 }, { book: 3 }, { book: 5 }], scroll: { token: '3-sea' } });

  const again = await gexHere('demo-api', '--port', '0', '--save', folder);
  expect(again).toMatchObject({ code: 1 });
  expect(again.stderr).toContain('is there already, and is not overwritten');
  const taken = await gexHere('demo-api', '--port', new URL(baseUrl).port);
  expect(taken).toMatchObject({ code: 1 });
  expect(taken.stderr).toContain('is in use by another program');

  running.kill('SIGINT');
  const { code, stdout, stderr } = await running.ended;
  expect({ code, stdout: stdout.split('\n')[0] }).toEqual({ code: 0, stdout: `api       ${baseUrl}books` });
  expect(stripVTControlCharacters(stderr)).toContain('GET /v1/books?cursor=6- → 1 row, the end');
});

test('a port that is none is refused before a folder is made', async () => {
  const folder = dataFolder();
  writeFileSync(path.join(folder, 'note'), '');
  const { code, stderr } = await gexHere('demo-api', '--port', 'x', '--save', path.join(folder, 'new'));
  expect(code).toBe(1);
  expect(stderr).toContain('--port is a port from 0 to 65535, and not “x”');
  expect(Object.keys(filesOf(folder))).toEqual(['note']);
});
