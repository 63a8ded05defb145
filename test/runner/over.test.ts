import { expect, test } from 'vitest';
import { silentLog } from '../../src/lib/log.ts';
import { run } from '../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, startApi, type Api } from '../cli/support.ts';

interface Library extends Api {
  isDown: boolean;
  readonly asked: string[];
}
async function library(): Promise<Library> {
  const state = { isDown: false, asked: [] as string[] };
  const api = await startApi(({ url }, response) => {
    const [, country = '', kind = ''] = url.pathname.split('/');
    const page = Number(url.searchParams.get('page'));
    if (state.isDown && country === 'sk' && kind === 'land') return response.writeHead(400).end();
    state.asked.push(`${country}/${kind}/${page}`);
    return json(
      response,
      page > 2 ? [] : [{ id: `${country}-${kind}-${page}`, at: url.searchParams.get('at') }],
    );
  });
  return Object.assign(state, { url: api.url, seen: api.seen });
}

const folderFor = (api: Api, concurrency: number): string =>
  dataFolder(
    configOf(
      api,
      [
        {
          endpoint: '{country}/{kind}',
          over: { country: ['cz', 'sk', 'de'], kind: ['sea', 'land'] },
          params: { at: { function: 'date', args: ['Y-m-d'] } },
          userData: { kind: { placeholder: 'kind' } },
          dataType: 'books',
        },
      ],
      { api: { http: { concurrency }, pagination: { method: 'pagenum' } } },
    ),
  );

test.each([1, 3])(
  'a product of lists goes on where it was stopped, with %i requests at once',
  async (concurrency) => {
    const api = await library();
    const whole = folderFor(api, concurrency);
    await run({ dataFolder: whole, log: silentLog });
    const table = filesOf(whole)['out/tables/library.books'] ?? '';
    expect(
      table
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split(',')[0]),
    ).toEqual(
      ['cz', 'sk', 'de'].flatMap((country) =>
        ['sea', 'land'].flatMap((kind) => [1, 2].map((page) => `"${country}-${kind}-${page}"`)),
      ),
    );
    const stopped = folderFor(api, concurrency);
    api.isDown = true;
    await expect(run({ dataFolder: stopped, log: silentLog })).rejects.toThrow('400');
    api.isDown = false;
    const before = new Set(api.asked.splice(0));
    await run({ dataFolder: stopped, log: silentLog });
    expect(filesOf(stopped)['out/tables/library.books']).toBe(table);
    expect(api.asked.some((line) => line.startsWith('cz'))).toBe(false);
    expect(before.has('cz/sea/1')).toBe(true);
  },
);
