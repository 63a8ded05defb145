import { expect, test } from 'vitest';
import { reportPage } from '../../../src/authoring/importing/report-page.ts';
import type { StreamReport } from '../../../src/authoring/importing/report.ts';

const STREAM: StreamReport = {
  stream: 'users',
  outcome: 'exact',
  row: 'users',
  columns: [],
  reasons: [],
  notes: [],
};

test('the report is a page without scripts, whatever names and templates stand in it', () => {
  const hostile = '<script>alert(1)</script>\u202E"';
  const page = reportPage({
    source: hostile,
    notes: [hostile],
    settings: [{ key: hostile, title: hostile, isRequired: true, example: hostile }],
    streams: [
      {
        ...STREAM,
        stream: hostile,
        outcome: 'not',
        reasons: [{ path: hostile, message: hostile, template: hostile }],
        notes: [hostile],
      },
    ],
  });
  expect(page).not.toContain('<script');
  expect(page).not.toContain('\u202E');
  expect(page).not.toMatch(/(?:src|href)=/);
  expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
});

test('the page says what to do about each stream', () => {
  const proved = { result: 'proved', reasons: [], seen: ['2 rows came'], unseen: [], requests: 1 } as const;
  const page = reportPage({
    source: 'shop.yaml',
    notes: [],
    settings: [{ key: 'settings.#token', title: 'Token', isRequired: true }],
    streams: [
      { ...STREAM, stream: 'proved', trial: proved },
      { ...STREAM, stream: 'claimed' },
      {
        ...STREAM,
        stream: 'left',
        outcome: 'not',
        reasons: [{ path: 'streams[2]', message: 'A class of its own' }],
      },
    ],
  });
  const text = page.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
  expect(text).toMatch(/proved exact proved 2 rows came Nothing\./);
  expect(text).toContain('Try it: gex run --row users --limit 2');
  expect(text).toContain('A class of its own streams[2]');
  expect(text).toContain('Finish the row “users”, which is disabled');
  expect(text).toContain('parameters.config.settings.#token Token yes');
});

test('streams that somebody has to look at stand in front', () => {
  const page = reportPage({
    source: 'shop.yaml',
    notes: [],
    settings: [],
    streams: [
      { ...STREAM, stream: 'as_it_was' },
      { ...STREAM, stream: 'longer', outcome: 'more rows', notes: ['Every run reads all rows.'] },
      { ...STREAM, stream: 'renamed', outcome: 'equal rows, other columns', columns: ['“a” is called “b”'] },
      {
        ...STREAM,
        stream: 'left',
        outcome: 'not',
        reasons: [{ path: 'streams[2]', message: 'No counterpart' }],
      },
    ],
  });
  const names = [...page.matchAll(/<th scope="row">([^<]*)/g)].map(([, name]) => name);
  expect(names).toEqual(['left', 'longer', 'renamed', 'as_it_was']);
  expect(page.replace(/<[^>]+>/g, '')).toContain(
    '1 exact, 1 with equal rows and other columns, 1 with more rows, 1 not.',
  );
});
