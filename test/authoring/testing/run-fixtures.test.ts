import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ConfigError } from '../../../src/lib/errors.ts';
import { runFixtures } from '../../../src/authoring/testing/index.ts';

/** A fixture of the test: paths and texts over a good one. */
function fixture(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'gex-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const all = {
    'config.json': JSON.stringify({
      parameters: { api: { baseUrl: 'https://bikes.test/' }, config: { jobs: [{ endpoint: 'bikes' }] } },
    }),
    'api/bikes.request': 'GET /bikes\n',
    'api/bikes.response': '[{"id":1},{"id":2}]',
    'expected/tables/bikes': '"id"\n"1"\n"2"\n',
    'expected/tables/bikes.manifest': '{"incremental":false}',
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    const file = path.join(folder, 'one', name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return folder;
}

async function problemsOf(files: Readonly<Record<string, string>>): Promise<string> {
  const { results, passed, failed } = await runFixtures(fixture(files));
  expect([passed, failed]).toEqual(results[0]?.passed === true ? [1, 0] : [0, 1]);
  return results.flatMap(({ problems }) => problems).join('\n');
}

test('a fixture that fits passes, and tells each result as it comes', async () => {
  const told: string[] = [];
  const report = await runFixtures(fixture({}), {
    onResult: ({ name, passed }) => told.push(`${name} ${passed}`),
  });
  expect(report).toMatchObject({ passed: 1, failed: 0 });
  expect(report.results[0]?.requests).toEqual(['GET /bikes']);
  expect(told).toEqual(['one true']);
});

test('a cell that differs is shown with its line', async () => {
  const problems = await problemsOf({ 'expected/tables/bikes': '"id"\n"1"\n"3"\n' });
  expect(problems).toBe('tables/bikes differs in line 3:\n  expected: "3"\n  got:      "2"');
});

test('a table too many and a table too few are named', async () => {
  const problems = await problemsOf({
    'expected/tables/cars': '"id"\n',
    'expected/tables/cars.manifest': '{}',
  });
  expect(problems).toContain('tables/cars was not written.');
  const none = await problemsOf({ 'api/bikes.response': '[]' });
  expect(none).toContain('tables/bikes was not written.');
});

test('a request that is not recorded is shown beside the nearest one', async () => {
  const problems = await problemsOf({ 'api/bikes.request': 'GET /bikes?page=1\n' });
  expect(problems).toContain('Unknown request: GET /bikes (host bikes.test)');
  expect(problems).toContain('the address is /bikes, recorded is /bikes?page=1');
  expect(problems).toContain(`${path.join('api', 'bikes')}.request was never asked for`);
});

test('headers are checked: a value, any value, and none', async () => {
  expect(await problemsOf({ 'api/bikes.requestHeaders': 'X-Key: 1\n' })).toContain(
    'the header X-Key was not sent',
  );
  expect(await problemsOf({ 'api/bikes.requestHeaders': 'user-agent: *\n!X-Key\n' })).toBe('');
  expect(await problemsOf({ 'api/bikes.requestHeaders': '!User-Agent\n' })).toContain('must not be');
});

test('an unexpected error is a problem, and so is an error that does not come', async () => {
  expect(await problemsOf({ 'api/bikes.response': '{' })).toContain(
    'The run failed:\n  The response is not JSON',
  );
  expect(await problemsOf({ 'expected/error.json': '{"exitCode":1}' })).toContain('expects that it fails');
  const other = await problemsOf({
    'api/bikes.response': '{',
    'expected/error.json': '{"code":"http.status","message":"cut"}',
  });
  expect(other).toContain('code differs:\n  expected: http.status\n  got:      response.notJson');
  expect(other).toContain('The error does not say');
});

test('requests, log and state are compared when they are given', async () => {
  const problems = await problemsOf({
    'expected/requests': 'GET /bikes\nGET /bikes?page=2\n',
    'expected/log': 'no such line\n',
    'expected/state.json': '{"time":{"previousStart":5}}',
    'fixture.json': '{"clock":"2026-01-17T12:00:00Z"}',
  });
  expect(problems).toContain(
    'requests differs in line 2:\n  expected: GET /bikes?page=2\n  got:      (the end)',
  );
  expect(problems).toContain('The log has no line with: no such line');
  expect(problems).toContain('state.json differs');
});

test('a mistake in the files of a fixture is said in words', async () => {
  expect(await problemsOf({ 'fixture.json': '{"clok":"now"}' })).toContain('has no key “clok”');
  expect(await problemsOf({ 'fixture.json': '{"clock":"now-ish"}' })).toContain('“clock” of fixture.json');
  expect(await problemsOf({ 'api/bikes.request': 'bikes' })).toContain('is no request line');
  expect(await problemsOf({ 'api/wheels.request': 'GET /wheels' })).toContain('no .response beside it');
  expect(await problemsOf({ 'api/bikes.responseCode': '99' })).toContain('A status is a number');
});

test('only the fixtures that are asked for run; a folder without any is an error', async () => {
  const folder = fixture({});
  await expect(runFixtures(folder, { only: ['two'] })).rejects.toThrow(ConfigError);
  await expect(runFixtures(path.join(folder, 'one', 'api'))).rejects.toThrow('There is no fixture');
  await expect(runFixtures(path.join(folder, 'nowhere'))).rejects.toThrow('cannot be read');
});

test('an abort ends the run', async () => {
  await expect(runFixtures(fixture({}), { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
    'enough',
  );
});

test('a verdict that differs is told, with its doubts', async () => {
  expect(await problemsOf({ 'expected/verdicts': 'bikes: ended\n' })).toBe('');
  const problems = await problemsOf({
    'api/bikes.response': '{"bikes":[{"id":1},{"id":2}],"total":3}',
    'expected/verdicts': 'bikes: complete\n',
  });
  expect(problems).toContain('bikes: doubtful');
  expect(problems).toContain('`total: 3`');
});
