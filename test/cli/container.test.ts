import { describe, test } from 'vitest';
import { component, configOf, dataFolder, filesOf, json, startApi } from './support.ts';

const books = () =>
  startApi(({ url }, response) =>
    url.pathname === '/html' ? response.end('<html>') : json(response, [{ id: 1 }]),
  );

describe.concurrent('the container entrypoint', () => {
  test('logs to stdout in lines of its own form, and writes out/', async ({ expect }) => {
    const folder = dataFolder(configOf(await books(), [{ endpoint: 'books', datatype: 'x' }]));
    const { code, stdout, stderr } = await component(folder);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trim().split('\n');
    for (const line of lines)
      expect(line).toMatch(
        /^\[\d{4}-\d\d-\d\dT[\d:.]+Z\] generic-extractor\.(INFO|WARNING): .* (\[\]|\{.*\}) \[\]$/,
      );
    expect(lines.some((line) => line.includes('WARNING: There is no state file'))).toBe(true);
    expect(
      lines.some((line) =>
        line.includes('WARNING: parameters.config.jobs[0].datatype: `datatype` is no known key'),
      ),
    ).toBe(true);
    expect(lines.some((line) => line.includes('INFO: “books” ended after 1 page'))).toBe(true);
    expect(lines.at(-1)).toMatch(/INFO: Extractor finished successfully\. \[\] \[\]$/);
    expect(Object.keys(filesOf(folder))).toEqual([
      'config.json',
      'out/report.json',
      'out/state.json',
      'out/tables/library.books',
      'out/tables/library.books.manifest',
    ]);
  });

  test(
    'logs JSON when it is asked to, and details when the configuration asks for them',
    { tags: 'thorough' },
    async ({ expect }) => {
      const folder = dataFolder(
        configOf(await books(), [{ endpoint: 'books' }], { config: { debug: true } }),
      );
      const { stdout } = await component(folder, { GEX_LOG_FORMAT: 'json' });
      const events = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { level: string; message: string });
      expect(events.filter(({ level }) => level === 'debug').map(({ message }) => message)).toContainEqual(
        expect.stringMatching(/^GET http/),
      );
      expect(events.at(-1)).toMatchObject({ level: 'info', message: 'Extractor finished successfully.' });
    },
  );

  test(
    'warns of a doubt, and with `"completeness": "require"` ends with 1 and leaves nothing in out/',
    { tags: 'thorough' },
    async ({ expect }) => {
      const api = await startApi((_request, response) => json(response, { books: [{ id: 1 }], total: 2 }));
      const job = { endpoint: 'books', dataField: 'books' };
      const warned = dataFolder(configOf(api, [job]));
      const first = await component(warned);
      expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' });
      expect(first.stdout).toContain('WARNING: “books” may not have everything. The answer says `total: 2`');
      expect(Object.keys(filesOf(warned))).toContain('out/tables/library.books');

      const refused = dataFolder(configOf(api, [{ ...job, completeness: 'require' }]));
      const second = await component(refused);
      expect(second.code).toBe(1);
      expect(second.stderr).toMatch(/^“books” may not have everything/);
      expect(Object.keys(filesOf(refused)).filter((name) => name.startsWith('out/tables'))).toEqual([]);
    },
  );

  test(
    'ends with 1 for a mistake of the user, the error alone on stderr',
    { tags: 'thorough' },
    async ({ expect }) => {
      const folder = dataFolder(
        configOf(await books(), [{ endpoint: 'html', params: { q: { attr: '#key' } } }], {
          config: { '#key': 'swordfish' },
        }),
      );
      const { code, stdout, stderr } = await component(folder);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^The response is not JSON: /);
      expect(stdout).toContain('generic-extractor.ERROR: The response is not JSON');
      expect(stdout + stderr).not.toContain('swordfish');
    },
  );

  test(
    'leaves a mistake of the configuration to the run, which may live with it',
    { tags: 'thorough' },
    async ({ expect }) => {
      const config = configOf(await books(), [{ endpoint: 'books', children: 'none' }]);
      const { stdout } = await component(dataFolder(config));
      expect(stdout).toMatch(
        /generic-extractor\.WARNING: .*"path":"parameters\.config\.jobs\[0\]\.children"/,
      );
    },
  );

  test('ends with 2 when there is no configuration', { tags: 'thorough' }, async ({ expect }) => {
    const { code, stderr } = await component(dataFolder());
    expect(code).toBe(2);
    expect(stderr).toContain('There is no ');
  });

  test('answers an action with one JSON document', { tags: 'thorough' }, async ({ expect }) => {
    const parameters = { __FUNCTION_CFG: { function: 'md5', args: ['a'] }, config: { jobs: [] } };
    const folder = dataFolder({ action: 'perform_function', parameters });
    expect(await component(folder)).toEqual({
      code: 0,
      signal: null,
      stdout: '{"result":"0cc175b9c0f1b6a831c399e269772661"}\n',
      stderr: '',
    });
    expect(Object.keys(filesOf(folder))).toEqual(['config.json']);
  });

  test(
    'answers an action that is not known with an error document',
    { tags: 'thorough' },
    async ({ expect }) => {
      const { code, stdout, stderr } = await component(
        dataFolder({ action: 'test_reqest', parameters: { config: { jobs: [] } } }),
      );
      expect(code).toBe(1);
      const answer = JSON.parse(stdout) as { status: string; message: string };
      expect(answer.status).toBe('error');
      expect(answer.message).toContain('There is no action “test_reqest”');
      expect(stderr).toContain('Did you mean “test_request”?');
    },
  );
});
