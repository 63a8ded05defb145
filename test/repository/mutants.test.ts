import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { mutants } from '../../scripts/mutants.ts';

const root = path.join(import.meta.dirname, '..', '..');

test('each fault that the tests must notice can still be made', () => {
  const names = mutants.map(({ name }) => name);
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  const lost = mutants.flatMap(({ name, file, find, replace, tests }) => {
    const from = path.join(root, file);
    const times = existsSync(from) ? readFileSync(from, 'utf8').split(find).length - 1 : 0;
    return [
      ...(times === 1 ? [] : [`“${name}”: ${file} has the text ${times} times, and not once: ${find}`]),
      ...(find === replace ? [`“${name}” changes nothing`] : []),
      ...(tests.length === 0 ? [`“${name}” has no tests`] : []),
      ...tests
        .filter((file) => !existsSync(path.join(root, file)))
        .map((file) => `“${name}”: there is no ${file}`),
    ];
  });
  expect(lost).toEqual([]);
});
