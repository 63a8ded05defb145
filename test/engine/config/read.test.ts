import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readConfig, resourceOf, parseConfig } from '../../../src/engine/config/read-config.ts';
import { ConfigError, exitCodeOf } from '../../../src/lib/errors.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'config-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function failure(text: string | Uint8Array): Promise<ConfigError> {
  await writeFile(join(folder, 'config.json'), text);
  const error: unknown = await readConfig(folder).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigError);
  return error as ConfigError;
}

describe('config.json', () => {
  test('is read exactly, with positions, and without its byte order mark', async () => {
    await writeFile(join(folder, 'config.json'), '\uFEFF{"parameters": {"n": 12345678901234567890}}');
    const document = await readConfig(folder);
    expect(JSON.stringify(document.value)).toBe('{"parameters":{"n":12345678901234567890}}');
    expect(document.positions().at(['parameters', 'n'])?.value).toEqual({ line: 1, column: 22 });
  });

  test('that is not there is an application error naming the file', async () => {
    const error: unknown = await readConfig(folder).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'config.missing', where: { file: join(folder, 'config.json') } });
    expect(exitCodeOf(error)).toBe(2);
  });

  test('with a syntax error says line, column, the line and the way out', async () => {
    const error = await failure('{\n  "parameters": {\n    "debug": true,\n  }\n}');
    expect(error).toMatchObject({ code: 'config.syntax', where: { line: 4, column: 3 } });
    expect(error.message).toBe('A property name in double quotes was expected at line 4, column 3: }');
    expect(error.hint).toBe('Remove the comma before the closing bracket.');
    expect(exitCodeOf(error)).toBe(2);
  });

  test.each([
    ['{"a": 1 "b": 2}', 'A comma may be missing before this place.'],
    ['{"a": // x\n1}', 'JSON has no comments: remove it.'],
    ["{'a': 1}", 'JSON strings are in double quotes.'],
    ['{"a": [1', 'A closing bracket is missing.'],
  ])('%s has a hint of its own', async (text, hint) => {
    expect((await failure(text)).hint).toBe(hint);
  });

  test('never shows a line with a secret', async () => {
    expect((await failure('{"#token": "top-secret" "b": 1}')).message).not.toContain('top-secret');
    expect((await failure('{"#token":\n  "top-secret" "b": 1}')).message).not.toContain('top-secret');
  });

  test('shows a long line around the place only', async () => {
    const { message } = await failure(`{"a": "${'x'.repeat(500)}" oops ${'y'.repeat(500)}}`);
    expect(message.length).toBeLessThan(180);
    expect(message).toContain('oops');
  });

  test('must be UTF-8', async () => {
    expect(await failure(Buffer.from([0x7b, 0xff, 0x7d]))).toMatchObject({ code: 'config.syntax' });
  });

  test('of a wrong form is shown in its place', () => {
    const document = parseConfig(
      '{\n "configuration": {},\n "rows": [{"id": "a"}, {"id": "a"}]\n}',
      'c.json',
    );
    expect(() => resourceOf(document)).toThrow(ConfigError);
    try {
      resourceOf(document);
    } catch (error) {
      expect(error).toMatchObject({ where: { file: 'c.json', line: 3, path: 'rows[1].id' } });
    }
  });
});
