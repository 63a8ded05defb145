import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { objectPath, readEntry } from '../../../../../src/service/stores/objects/folder/layout.ts';
import { compareKeys } from '../../../../../src/service/stores/objects/keys.ts';

const key = fc.oneof(
  fc.string({ minLength: 1, unit: fc.constantFrom('a', 'A', '/', '.', '-', '%', ' ', ',', 'é', '😀', '0') }),
  fc.string({ minLength: 60, maxLength: 150, unit: fc.constantFrom('a', 'b', '/', 'é', ' ') }),
);

describe('the layout of the folder', () => {
  test('a path gives its key back, stays inside, and no name is too long for a file system', () => {
    fc.assert(
      fc.property(key, (key) => {
        const names = objectPath(key).split('/');
        const entries = names.map((name, index) => readEntry(name, index < names.length - 1));
        expect(Buffer.concat(entries.map((entry) => entry?.bytes ?? Buffer.from('?'))).toString()).toBe(key);
        for (const name of names) {
          expect(name.length).toBeLessThanOrEqual(200);
          expect(name).toMatch(/^[a-z0-9_%,-][a-z0-9_%,.-]*$/);
        }
      }),
    );
  });

  test('different keys have different paths, even where case is ignored', () => {
    fc.assert(
      fc.property(key, key, (a, b) => {
        fc.pre(a !== b);
        expect(objectPath(a).toLowerCase()).not.toBe(objectPath(b).toLowerCase());
      }),
    );
  });

  test('the order of the names of each directory is the order of the keys', () => {
    fc.assert(
      fc.property(fc.uniqueArray(key, { minLength: 2, maxLength: 20 }), (keys) => {
        const walked = (paths: readonly string[][], head: Buffer): string[] => {
          const names = [...new Set(paths.map(([name = '']) => name))];
          const entries = names
            .map((name) => readEntry(name, !name.endsWith(',o')))
            .filter((entry) => entry !== undefined);
          return entries
            .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
            .flatMap((entry) => {
              const found = Buffer.concat([head, entry.bytes]);
              if (entry.kind === 'object') return [found.toString('hex')];
              return walked(
                paths.filter(([name]) => name === entry.name).map(([, ...rest]) => rest),
                found,
              );
            });
        };
        const listed = walked(
          keys.map((key) => objectPath(key).split('/')),
          Buffer.alloc(0),
        );
        expect(listed).toEqual(keys.sort(compareKeys).map((key) => Buffer.from(key).toString('hex')));
      }),
    );
  });

  test('names that this store did not make are passed over', () => {
    for (const name of ['.DS_Store', 'Thumbs.db', 'x~', 'a b'])
      expect(readEntry(name, false)).toBeUndefined();
  });
});
