import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../src/lib/json/index.ts';
import { items, paginatorOf, run } from '../helpers.ts';

const two = { body: items(2) };
const VOLUME = '[{"id":1},{"id":2}]'.length;
const options = (forceStop: Json): Json => ({ method: 'pagenum', forceStop });

describe('forceStop', () => {
  test.each([1, 2, 5])('with pages %i downloads as many', (pages) => {
    const { shown, stop } = run(paginatorOf(options({ pages })), () => two);
    expect(shown).toHaveLength(pages);
    expect(stop).toBe(`forceStop: page ${pages} is the last one allowed`);
  });

  test.each<[Json, number]>([
    [30, 3],
    ['30', 3],
    ['30 seconds', 3],
    [31, 4],
    ['1 minute', 6],
  ])('with time %j and ten seconds a page downloads %i pages', (time, pages) => {
    const started = 1_700_000_000_000;
    const { shown } = run(
      paginatorOf(options({ time })),
      () => two,
      (page) => started + page * 10_000,
    );
    expect(shown).toHaveLength(pages);
  });

  test.each<[Json, number]>([
    [VOLUME * 2 - 1, 2],
    [VOLUME * 2, 3],
    [String(VOLUME * 2), 3],
    [1, 1],
  ])('with volume %j goes on until more has come: %i pages', (volume, pages) => {
    expect(run(paginatorOf(options({ volume })), () => two).shown).toHaveLength(pages);
  });

  test('asks for the volume only where it is needed', () => {
    expect(paginatorOf(options({ volume: 1 })).needs.volume).toBe(true);
    expect(paginatorOf(options({ pages: 1 })).needs).toEqual({});
  });

  test.each<[Json, number]>([
    [{ pages: 3 }, 3],
    [{ pages: 3, time: 10 }, 1],
    [{ volume: 1000 }, 1],
    [[], Infinity],
  ])('with %j requests ahead are within the budget: %i', (forceStop, most) => {
    const paginator = paginatorOf(options(forceStop));
    expect(paginator.ahead?.(paginator.first(0).state)).toBe(most);
  });

  test.each<Json>([[], null, { pages: 0, time: '', volume: null }])('%j is no rule', (forceStop) => {
    expect(run(paginatorOf(options(forceStop)), [two, { body: [] }]).shown).toHaveLength(2);
  });

  test.each<[Json, string]>([
    [{ pages: '2' }, '.pages'],
    [{ pages: 1.5 }, '.pages'],
    [{ pages: -1 }, '.pages'],
    [{ pages: [1] }, '.pages'],
    [{ time: 'soon' }, '.time'],
    [{ time: 1.5 }, '.time'],
    [{ time: -1 }, '.time'],
    [{ time: [1] }, '.time'],
    [{ volume: 'much' }, '.volume'],
    ['2', ''],
  ])('%j is refused', (forceStop, key) => {
    expect(() => paginatorOf(options(forceStop))).toThrow(
      expect.objectContaining({ where: { path: `parameters.api.pagination.forceStop${key}` } }),
    );
  });
});
