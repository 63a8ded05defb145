import { describe, expect, test } from 'vitest';
import { Identity, type RowsFacts } from '../../../src/engine/completeness/identity.ts';
import { decodedRows } from '../../../src/engine/shared/seen-rows.ts';

const SIZE = 4096;

describe('ids of rows', () => {
  // more than 32,768 ids are remembered, and no more than 65,536
  test('are known again while they are remembered, with the page that they came with', () => {
    const identity = new Identity();
    const see = (page: number, like: number): RowsFacts => {
      const seen = identity.page(page);
      // neither rising nor falling, so that each is looked for
      const rows = Array.from({ length: SIZE }, (_, i) => ({ id: like * SIZE + ((i * 1031) % SIZE) }));
      seen.take(decodedRows(rows));
      return seen.facts();
    };
    for (let page = 1; page <= 40; page++) expect(see(page, page)).toMatchObject({ rows: SIZE, known: 0 });
    expect(see(41, 39)).toMatchObject({ known: SIZE, from: 39, isPage: 39 });
    expect(see(42, 34)).toMatchObject({ known: SIZE, from: 34, isPage: 34 });
    for (const forgotten of [1, 9, 17, 24])
      expect(see(42 + forgotten, forgotten)).toMatchObject({ known: 0, from: undefined });
  });
});
