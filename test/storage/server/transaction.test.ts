import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SERVER = fileURLToPath(new URL('../../../src/storage/server', import.meta.url));

test('every transaction says what it is about', () => {
  const files = readdirSync(SERVER, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const own = files.filter((name) => readFileSync(join(SERVER, name), 'utf8').includes('.transaction()'));
  // Nobody else writes into the target of a move.
  const others = own.filter((name) => !name.startsWith('move/'));
  expect(others.toSorted()).toEqual(['meta/migrate.ts', 'meta/transaction.ts']);
});
