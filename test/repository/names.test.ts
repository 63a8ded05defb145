import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

/** Names that a program imports from two entries of the package, which have them by themselves. */
const PUBLISHED: Readonly<Record<string, string>> = {
  EventsQuery: 'the query on the wire, and as the client takes it',
  Job: 'the job on the wire, and as the client gives it',
  RunError: 'the error class of a run, and the error of a run in the API',
  RunProgress: 'the listener of a run, and the progress of a run in the API',
  Tokens: 'the tokens of a login for a kind of authentication, and the client’s operations on tokens',
  VersionsQuery: 'the query on the wire, and as the client takes it',
};

test('an exported type has a name of its own', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const declared = files.flatMap((name) => {
    const text = readFileSync(path.join(SRC, name), 'utf8');
    const found = text.matchAll(/^export (?:abstract )?(?:class|interface|type) (\w+)/gm);
    return [...found].map(([, type = '']) => ({ type, name }));
  });
  const several = [...Map.groupBy(declared, ({ type }) => type)].filter(([, places]) => places.length > 1);
  const others = several.filter(([type]) => !Object.hasOwn(PUBLISHED, type));
  expect(others.map(([type, places]) => `${type}: ${places.map(({ name }) => name).join(', ')}`)).toEqual([]);
  expect(several.map(([type]) => type).toSorted()).toEqual(Object.keys(PUBLISHED));
});
