import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { configOf, dataFolder, filesOf, gexHere, json, startApi } from './support.ts';

const KEY = 'open-sesame-1234';

interface Told {
  readonly limits: readonly {
    readonly origin: string;
    readonly credential: string;
    readonly changes: readonly { readonly from: number; readonly to: number; readonly why: string }[];
  }[];
}

test('the limit that was found is told with its reasons, by origin and credential, and without the credential', async () => {
  let underWay = 0;
  const api = await startApi(({ url }, response) => {
    if (underWay >= 5) {
      response.writeHead(429, { 'retry-after': '0.1' }).end();
      return;
    }
    underWay++;
    response.once('close', () => underWay--);
    const page = Number(url.searchParams.get('page'));
    setTimeout(() => json(response, page > 60 ? [] : [{ id: page }]), 50);
  });
  const configuration = (key: string): object =>
    configOf(api, [{ endpoint: 'books' }], {
      api: {
        pagination: { method: 'pagenum' },
        http: { concurrency: 'auto', headers: { 'X-Api-Key': { attr: '#key' } } },
      },
      config: { '#key': key },
    });
  const folder = dataFolder(configuration(KEY));
  const run = async (): Promise<Told> => {
    const { code, stdout, stderr } = await gexHere('run', '--data', folder, '--storage', 'none', '--json');
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as Told;
  };
  const { limits } = await run();
  expect(limits).toMatchObject([{ origin: api.url.slice(0, -1) }]);
  expect(limits[0]?.credential).toMatch(/^[\da-f]{8}$/);
  expect(limits[0]?.changes.map(({ from, to, why }) => `${from} → ${to}: ${why}`)).toEqual(
    expect.arrayContaining(['4 → 8: it was used', expect.stringMatching(/^8 → 4: 429/)]),
  );
  const texts = Object.values(filesOf(path.join(folder, '.gex')));
  expect(texts.join('\n')).not.toContain(KEY);

  const explained = await gexHere('explain', '--data', folder);
  expect(explained.stdout).toMatch(/^Requests at once, as the API took them$/m);
  expect(explained.stdout).toMatch(/^ {2}\+\d+\.\d s {2}8 → 4 after \d+ requests: 429/m);
  const trace = JSON.parse((await gexHere('explain', '--data', folder, '--json')).stdout) as [
    { readonly limits: readonly object[] },
  ];
  expect(trace[0].limits).toHaveLength(limits[0]?.changes.length ?? 0);
  expect((await gexHere('run', '--data', folder, '--replay', 'last')).code).toBe(0);

  // the same name in the next run, which begins at three quarters
  const again = await run();
  expect(again.limits[0]?.credential).toBe(limits[0]?.credential);
  const { salt } = JSON.parse(readFileSync(path.join(folder, '.gex/limits.json'), 'utf8')) as {
    salt: string;
  };
  expect(salt).toMatch(/^[\da-f]{32}$/);
});
