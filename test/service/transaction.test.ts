import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url));

const FILES = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
);

const thatHave = (text: string): string[] =>
  FILES.filter((name) => readFileSync(join(SOURCE, name), 'utf8').includes(text)).toSorted();

test('every transaction says what it is about', () => {
  // Nobody else writes into the target of a move.
  const others = thatHave('.transaction()').filter((name) => !name.startsWith('service/domain/transfer/'));
  expect(others).toEqual(['service/stores/metadata/migrate.ts', 'service/stores/metadata/transaction.ts']);
});

test('requests have no transactions but their own, which keep the key of the request', () => {
  const ofHttp = [...thatHave('withLocks('), ...thatHave('transactionsOf(')].filter((name) =>
    name.startsWith('service/http/'),
  );
  expect(ofHttp).toEqual(['service/http/app.ts']);
});

test('nothing but the id of a request travels beside the arguments', () => {
  const ofService = thatHave('AsyncLocalStorage').filter((name) => name.startsWith('service/'));
  expect(ofService).toEqual(['service/platform/health/correlation.ts']);
});
