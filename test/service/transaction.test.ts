import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url));

test('every transaction says what it is about', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const own = files.filter((name) => readFileSync(join(SOURCE, name), 'utf8').includes('.transaction()'));
  // Nobody else writes into the target of a move.
  const others = own.filter((name) => !name.startsWith('service/domain/transfer/'));
  expect(others.toSorted()).toEqual([
    'service/stores/metadata/migrate.ts',
    'service/stores/metadata/transaction.ts',
  ]);
});
