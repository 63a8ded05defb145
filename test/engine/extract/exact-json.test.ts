import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, startApi } from '../../cli/support.ts';

const VALUE =
  '{"price":1.10,"name":"žluť/\u2028","small":0.0000001,"big":12345678901234567890,"e":1E2,"10":[-0]}';
const BODY = `[{"id":1.10,"box":${VALUE},"lists":[[1.10,"ž"]]}]`;

/** The cells of the tables, without the quotes of CSV. */
async function cells(exactJson: boolean | undefined, config: object): Promise<string> {
  const api = await startApi((_request, response) => response.end(BODY));
  const more = { config: { ...config, ...(exactJson === undefined ? {} : { exactJson }) } };
  const folder = dataFolder(configOf(api, [{ endpoint: 'users', responseFilter: ['box', 'lists'] }], more));
  await run({ dataFolder: folder, log: silentLog });
  return Object.values(filesOf(path.join(folder, 'out', 'tables')))
    .join('')
    .replaceAll('""', '"');
}

describe('JSON text in a cell', () => {
  test.each([
    ['a filter', {}],
    ['a filter of the second way', { compatLevel: 2 }],
    ['the first way', { compatLevel: 1 }],
  ])('of %s is exact where that is asked for', async (_what, config) => {
    const exact = await cells(true, config);
    expect(exact).toContain(VALUE);
    expect(exact).toContain('[[1.10,"ž"]]');
    expect(exact).toContain('"1.1"');
  });

  test('of a mapping is exact where that is asked for', async () => {
    const api = await startApi((_request, response) => response.end(BODY));
    const mappings = { users: { box: { mapping: { destination: 'box' }, forceType: true } } };
    const config = { mappings, exactJson: true };
    const folder = dataFolder(configOf(api, [{ endpoint: 'users' }], { config }));
    await run({ dataFolder: folder, log: silentLog });
    expect(
      Object.values(filesOf(path.join(folder, 'out', 'tables')))
        .join('')
        .replaceAll('""', '"'),
    ).toContain(VALUE);
  });

  test('is that of the reference otherwise', async () => {
    const text = await cells(undefined, {});
    expect(text).toContain(String.raw`{"price":1.1000000000000001,"name":"\u017elu\u0165\/\u2028","small":`);
  });
});
