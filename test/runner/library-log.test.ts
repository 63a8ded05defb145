import { execFile } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { configOf, dataFolder, json, startApi } from '../cli/support.ts';

const LIBRARY = pathToFileURL(fileURLToPath(new URL('../../src/index.ts', import.meta.url))).href;

/** Runs a data folder by the library in a process of its own, as a program would that has it as a package. */
async function runBy(log: string) {
  const api = await startApi((_request, response) => json(response, { rows: [{ id: 1 }], more: {} }));
  const folder = dataFolder(configOf(api.url, [{ endpoint: 'books', dataField: 'items' }]));
  const code = `const { run } = await import('${LIBRARY}'); await run({ dataFolder: ${JSON.stringify(folder)}${log} });`;
  return await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code]);
}

describe('the log of a run by the library', () => {
  test('is that of warnings on stderr where none is given', async () => {
    const { stdout, stderr } = await runBy('');
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^warning: The response of “books” contains no data at “items”.* \(.*page 1\)\n$/);
  });

  test('has lines and no objects where it is the console', async () => {
    const { stdout, stderr } = await runBy(', log: console');
    expect(stderr).toMatch(/^The response of “books” contains no data at “items”.* \(.*page 1\)\n$/);
    expect(stdout).toContain('“books” ended after 1 page');
    expect(stdout).not.toMatch(/[{}]|undefined/);
  });
});
