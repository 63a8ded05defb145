// @module-tag thorough
import { execFile } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';

const script = path.join(fileURLToPath(new URL('../..', import.meta.url)), 'scripts/demo.ts');

test('the demo ends by itself and shows what an incremental run adds', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [script], { encoding: 'utf8' });
  const lines = stripVTControlCharacters(stdout).split('\n');
  expect(lines.filter((line) => line.length > 100)).toEqual([]);
  expect(lines).toContain('    POST /v1/search {"q":"sea"}  → 3 rows, next: 3-sea');
  expect(lines).toContain('    in.c-lib.books       7 → 8');
  expect(lines).toContain('    in.c-lib.books_tags  9 → 10');
  expect(lines).toContain('    in.c-lib.hits        4 → 5');
  expect(stdout).toContain('The configuration stays at version 3.');
  expect(stdout).not.toMatch(/token +\d/);
});
