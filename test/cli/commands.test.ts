import { readFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { configOf, dataFolder, gexHere as gex, put } from './support.ts';

describe.concurrent('the command line', () => {
  test('shows help with examples, for all and for each command', async ({ expect }) => {
    const all = await gex('--help');
    expect(all).toMatchObject({ code: 0, stderr: '' });
    for (const name of ['gex run', 'gex validate', 'gex test', 'gex action'])
      expect(all.stdout).toContain(name);
    const run = await gex('run', '-h');
    expect(run.code).toBe(0);
    expect(run.stdout).toContain('Examples:');
    expect(run.stdout).toContain('--dry-run');
    expect(run.stdout).toMatch(/ --storage DIR\|URL\|none +Where inputs/);
    expect(run.stdout).toContain('(default: info)');
    expect(run.stdout).toContain(
      '\n  # Leave the tables in my-api/out\n  gex run --data my-api --storage none\n',
    );
    expect(run.stdout).not.toMatch(/\[(?:string|boolean|array|required)/);
  });

  test('without a command shows the help and fails', async ({ expect }) => {
    const { code, stdout, stderr } = await gex();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('gex run');
  });

  test('shows the version of the package', async ({ expect }) => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(await gex('--version')).toMatchObject({ code: 0, stdout: `${version}\n` });
  });

  test.for([
    [['rum'], 'There is no command “rum”.', 'Did you mean “gex run”?'],
    [['vali'], 'There is no command “vali”.', 'Did you mean “gex validate”?'],
    [['--data', 'x'], 'There is no option --data here.', 'Begin with a command.'],
    [['run', '--dat', 'x'], 'There is no option --dat.', 'Did you mean --data?'],
    [['run', '-x'], 'There is no option -x.', 'See gex run --help.'],
    [['run', '--row'], '--row needs a value: --row ID.', 'See gex run --help.'],
    [['run', '--data', '--json'], '--data needs a value: --data DIR.', 'is written --data=VALUE.'],
    [['run', '--data', ''], '--data needs a value, and has an empty one.', 'See gex run --help.'],
    [['run', '--dry-run=yes'], '--dry-run takes no value, and not “yes”.', 'See gex run --help.'],
    [['run', 'extra'], 'gex run takes no words, and not “extra”.', 'Did you mean --data extra?'],
    [['run', '--log-format', 'xml'], '--log-format is text or json, and not “xml”.', 'See gex run --help.'],
    [['encrypt', 'hunter2'], 'A value is never an argument', 'See gex encrypt --help.'],
    [['run', '--limit', '0'], '--limit is a whole number from 1, and not “0”.', '--limit 2'],
    [
      ['run', '--component', 'x'],
      'named by its component and its id',
      '--component ex-generic-v2 --config 42',
    ],
    [
      ['run', '--component', 'x', '--config', '1', '--storage', 'none'],
      'has no configurations to run',
      'folder',
    ],
    [['test'], 'It is written gex test <folder>.', 'See gex test --help.'],
  ] as const)('refuses %j and says what to write', async ([args, message, hint], { expect }) => {
    const { code, stdout, stderr } = await gex(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
    expect(stderr).not.toContain('hunter2');
  });
});

describe.concurrent('gex validate', () => {
  test('says that a configuration is valid', async ({ expect }) => {
    const folder = dataFolder(configOf('http://x.example/', [{ endpoint: 'books' }]));
    expect(await gex('validate', '--data', folder)).toMatchObject({
      code: 0,
      stdout: `${folder}/config.json is valid.\n`,
    });
  });

  test('prints every problem with its place, as text and as JSON', async ({ expect }) => {
    const folder = dataFolder(configOf('', [{ endpont: 'books' }]));
    const { code, stdout, stderr } = await gex('validate', '--data', folder);
    expect(code).toBe(1);
    expect(stdout).toMatch(/config\.json:\d+:\d+ error parameters\.api\.baseUrl/);
    expect(stdout).toMatch(/config\.json:\d+:\d+ warning parameters\.config\.jobs\[0\]\.endpont/);
    expect(stderr).toBe('2 errors, 1 warning\n');
    const asJson = await gex('validate', '--data', folder, '--json');
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ valid: false, problems: { length: 3 } });
  });

  test('tells a text that is no JSON as JSON, too', async ({ expect }) => {
    const folder = dataFolder('{\n  "parameters": {,\n}');
    const { code, stdout, stderr } = await gex('validate', '--data', folder, '--json');
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      valid: false,
      file: `${folder}/config.json`,
      problems: [{ severity: 'error', line: 2, column: 18 }],
    });
    expect(stderr).toContain('config.json:2:18');
  });

  test('warns of a variable that is not set, where a run refuses it', async ({ expect }) => {
    const config = { '#token': '$env:GEX_TEST_NOT_SET' };
    const folder = dataFolder(configOf('http://x.example/', [{ endpoint: 'books' }], { config }));
    const { code, stdout } = await gex('validate', '--data', folder);
    expect(code).toBe(0);
    expect(stdout).toContain(
      'warning parameters.config.#token: The environment variable GEX_TEST_NOT_SET is not set.',
    );
    expect(await gex('validate', '--data', folder, '--strict')).toMatchObject({ code: 1 });
    expect(await gex('run', '--data', folder, '--storage', 'none')).toMatchObject({ code: 1 });
  });

  test('takes a warning for an error with --strict', async ({ expect }) => {
    const folder = dataFolder(configOf('http://x.example/', [{ endpoint: 'books', datatype: 'x' }]));
    expect(await gex('validate', '--data', folder)).toMatchObject({ code: 0 });
    expect(await gex('validate', '--data', folder, '--strict')).toMatchObject({ code: 1 });
  });
});

describe.concurrent('gex action', () => {
  test('prints the answer as JSON', async ({ expect }) => {
    const folder = dataFolder();
    const parameters = { __FUNCTION_CFG: { function: 'concat', args: ['a', 'b'] }, config: { jobs: [] } };
    put(folder, 'config.json', JSON.stringify({ parameters }));
    const { code, stdout } = await gex('action', 'perform_function', '--data', folder);
    expect(JSON.parse(stdout)).toEqual({ result: 'ab' });
    expect(code).toBe(0);
  });
});
