import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findHolder } from '../../src/service/stores/folder/lock.ts';
import { route } from '../../src/service/http/route.ts';
import type { JobName } from '../../src/service/domain/jobs/operations/all.ts';
import { createService, newMasterToken, type Part } from '../../src/service/start/service.ts';
import { databaseOf, isOnPostgres, placeOf } from './database.ts';
import { anyText, containing, matching, startService } from './harness.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'service-'));
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

describe('start and stop', () => {
  test('the first start gives a master token, later ones do not, and it still works', async () => {
    const first = createService(await placeOf(dir));
    const { masterToken } = await first.start();
    await first.stop();
    await first.stop();
    const second = createService(await placeOf(dir));
    const { url, masterToken: again } = await second.start();
    expect(again).toBeUndefined();
    const verify = await fetch(`${url}/v2/storage/tokens/verify`, {
      headers: { 'X-StorageApi-Token': masterToken ?? '' },
    });
    expect(verify.status).toBe(200);
    await second.stop();
  });

  // The files of PostgreSQL are outside the scope of this test.
  test.runIf(!isOnPostgres)('only a hash of the token is in the folder', async () => {
    const service = await startService({ dir });
    const { token } = service;
    await service.service.stop();
    expect((await readFile(join(dir, 'meta.sqlite'))).includes(token.split('-')[2] ?? '')).toBe(false);
  });

  test('a lost token is replaced, while it runs and while it does not', async () => {
    const service = createService(await placeOf(dir));
    const { url } = await service.start();
    for (const token of [await service.newToken(), await newMasterToken((await databaseOf(dir)) ?? dir)]) {
      const verify = await fetch(`${url}/v2/storage/tokens/verify`, {
        headers: { 'X-StorageApi-Token': token },
      });
      expect(await verify.json()).toMatchObject({ isMasterToken: true });
    }
    await service.stop();
  });

  test('a second one over the folder is refused and told who holds it and where it answers', async () => {
    const service = createService(await placeOf(dir));
    const { url } = await service.start();
    await expect(createService(await placeOf(dir)).start()).rejects.toMatchObject({
      code: 'run.locked',
      message: containing(`process ${process.pid} on `),
      hint: containing(url),
    });
    expect(await findHolder(dir)).toMatchObject({ pid: process.pid, address: url });
    expect((await fetch(`${url}/health`)).status).toBe(200);
    await service.stop();
    expect(await findHolder(dir)).toBeUndefined();
  });

  test(
    'what a killed process acknowledged is there, and its lock is gone',
    { tags: 'thorough' },
    async () => {
      const script = join(dir, 'serve.ts');
      const source = new URL('../../src/service/start/service.ts', import.meta.url);
      await writeFile(
        script,
        `import { createService } from ${JSON.stringify(source.href)};
       const { url, masterToken } = await createService(${JSON.stringify(await placeOf(join(dir, 'data')))}).start();
       console.log(JSON.stringify({ url, masterToken }));`,
      );
      const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      const { url, masterToken } = JSON.parse(line.toString()) as { url: string; masterToken: string };
      const headers = { 'X-StorageApi-Token': masterToken, 'Content-Type': 'application/json' };
      const path = '/v2/storage/components/wr-db/configs';
      await fetch(url + path, { method: 'POST', headers, body: '{"name":"x","configurationId":"kept"}' });
      for (let n = 0; n < 20; n++) {
        await fetch(`${url}${path}/kept`, { method: 'PUT', headers, body: `{"configuration":{"n":${n}}}` });
      }
      child.kill('SIGKILL');
      await once(child, 'exit');
      const service = createService(await placeOf(join(dir, 'data')));
      const again = await service.start();
      const kept = await fetch(`${again.url}${path}/kept`, { headers });
      expect(await kept.json()).toMatchObject({ version: 21, configuration: { n: 19 } });
      await service.stop();
    },
  );

  test('what is being asked is answered before it stops', async () => {
    const asked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const slow = route({
      method: 'GET',
      path: '/slow',
      summary: 'Waits',
      tag: 'Test',
      handle: async () => {
        asked.resolve();
        await release.promise;
        return 'done';
      },
    });
    const service = await startService({ dir, parts: [() => ({ routes: [slow] })] });
    const answer = service.call('GET', 'slow');
    await asked.promise;
    const stopped = service.service.stop();
    release.resolve();
    expect((await answer).body).toBe('done');
    await stopped;
  });
});

describe('parts', () => {
  test('are started in order, stopped in the other, and give routes, services and addresses', async () => {
    const seen: string[] = [];
    const part = (name: string): Part => ({
      services: [{ id: name, url: `/${name}` }],
      start: async (url) => {
        seen.push(`start ${name}`);
        return { [name]: `${url}/${name}` };
      },
      stop: async () => {
        seen.push(`stop ${name}`);
      },
    });
    const service = await startService({
      dir,
      publicUrl: 'https://example.com/',
      parts: [() => part('import'), () => part('b')],
    });
    expect(service.addresses.parts).toEqual({
      import: `${service.addresses.url}/import`,
      b: `${service.addresses.url}/b`,
    });
    expect((await service.call('GET', '/v2/storage')).body).toMatchObject({
      host: 'example.com',
      services: [
        { id: 'import', url: 'https://example.com/import' },
        { id: 'b', url: 'https://example.com/b' },
      ],
    });
    await service.service.stop();
    expect(seen).toEqual(['start import', 'start b', 'stop b', 'stop import']);
  });

  test('one that cannot start stops the others, lets go of the folder, and spends no token', async () => {
    const failing: Part = { start: async () => await Promise.reject(new Error('no port')) };
    await expect(createService({ ...(await placeOf(dir)), parts: [() => failing] }).start()).rejects.toThrow(
      'no port',
    );
    expect(await findHolder(dir)).toBeUndefined();
    const service = createService(await placeOf(dir));
    expect(await service.start()).toMatchObject({
      masterToken: matching(/^1-\d+-[0-9a-f]{60}$/),
    });
    await service.stop();
  });

  test('a route that enqueues jobs which nothing does is refused at the start', async () => {
    const split = route({
      method: 'POST',
      path: '/split',
      summary: 'Splits a table',
      tag: 'Test',
      handle: () => undefined,
    });
    const enqueues = ['tableSplit'] as unknown as readonly JobName[]; // which the types refuse
    const parts = [() => ({ routes: [{ ...split, enqueues }] })];
    await expect(createService({ ...(await placeOf(dir)), parts }).start()).rejects.toThrow(
      'Nothing does the jobs of the kind tableSplit.',
    );
  });

  test('an unforeseen error is a constant text, and its detail is in the log under its id', async () => {
    const logged: unknown[] = [];
    const log = {
      debug() {},
      info() {},
      warn() {},
      error: (_text: string, fields?: unknown) => logged.push(fields),
    };
    const broken = route({
      method: 'GET',
      path: '/broken',
      summary: 'Fails',
      tag: 'Test',
      handle: () => {
        throw new Error('secret detail');
      },
    });
    const service = await startService({ dir, log, parts: [() => ({ routes: [broken] })] });
    const answer = await service.call('GET', 'broken');
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain('secret');
    const { exceptionId } = answer.body as { exceptionId: string };
    expect(logged).toMatchObject([{ exceptionId, detail: containing('secret detail') }]);
    await service.service.stop();
  });
});

describe('catalogue and documentation', () => {
  test('this extractor with its schema, and components from a folder', async () => {
    await writeFile(
      join(dir, 'own.json'),
      '{"id":"own.component","type":"application","name":"Own","data":{"x":1.0}}',
    );
    const service = await startService({ extractorSchema: { title: 'Schema' }, componentsDir: dir });
    const { body } = await service.call('GET', '/v2/storage');
    const { components } = body as { components: { id: string }[] };
    expect(components.find(({ id }) => id === 'ex-generic-v2')).toMatchObject({
      configurationSchema: { title: 'Schema' },
    });
    expect(components.map(({ id }) => id)).toEqual(
      expect.arrayContaining([
        'wr-db',
        'transformation',
        'provisioning',
        'keboola.orchestrator',
        'keboola.scheduler',
      ]),
    );
    const own = await service.call('GET', 'components/own.component');
    expect(own.text).toContain('"data":{"x":1.0}');
    expect((await service.call('GET', 'components/own.component/configs')).body).toEqual([]);
    const brief = (await service.call('GET', '/v2/storage?exclude=componentDetails')).body as {
      components: object[];
    };
    expect(brief.components[0]).not.toHaveProperty('configurationSchema');
    await service.stop();
  });

  test('a file of the folder that is no component is named', async () => {
    await writeFile(join(dir, 'wrong.json'), '{"name":"no id"}');
    await expect(createService({ dir: join(dir, 'data'), componentsDir: dir }).start()).rejects.toMatchObject(
      {
        where: { file: join(dir, 'wrong.json') },
      },
    );
  });

  test('every route is in the OpenAPI document, also those of parts', async () => {
    const { coreRoutes } = await import('../../src/service/http/routes/all.ts');
    const own = route({ method: 'GET', path: '/own/:id', summary: 'Own', tag: 'Own', handle: () => 'x' });
    let expected: string[] = [];
    const service = await startService({
      dir,
      parts: [
        (context) => {
          expected = [...coreRoutes(context, []), own].flatMap((each) => {
            const path = each.path.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{*}');
            const method = each.method.toLowerCase();
            if (each.isOutside === true) return [`${method} ${path}`];
            const plain = `${method} /v2/storage${path}`;
            const branch = `${method} /v2/storage/branch/{branch}${path}`;
            return each.scope === 'plain' ? [plain] : each.scope === 'branch' ? [branch] : [plain, branch];
          });
          return { routes: [own] };
        },
      ],
    });
    const document = (await service.call('GET', '/v2/storage/openapi.json')).body as {
      openapi: string;
      paths: Record<string, Record<string, { summary: string; responses: object }>>;
    };
    expect(document.openapi).toBe('3.1.0');
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(expected.length).toBeGreaterThan(100);
    expect(expected.filter((operation) => !described.includes(operation))).toEqual([]);
    expect(document.paths['/v2/storage/tokens']?.['post']).toMatchObject({
      summary: anyText,
      requestBody: {
        content: {
          'application/json': {},
          'application/x-www-form-urlencoded': {},
          'multipart/form-data': {},
        },
      },
      responses: { 201: {}, '4XX': {} },
    });
    await service.service.stop();
  });
});
