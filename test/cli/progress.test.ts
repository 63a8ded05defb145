import { describe, expect, test } from 'vitest';
import type { Io } from '../../src/cli/command.ts';
import { formatBytes, formatCount, formatTable } from '../../src/cli/format.ts';
import { createProgress } from '../../src/cli/progress.ts';
import type { RowRun } from '../../src/engine/config/index.ts';
import { silentLog, type Log } from '../../src/lib/log.ts';
import { componentLine, plainLine, plainText, terminalLine } from '../../src/lib/logging/lines.ts';
import { createLog } from '../../src/lib/logging/log.ts';
import { Secrets } from '../../src/lib/secrets.ts';

function watch(isLive: boolean) {
  let nowMs = 0;
  const shown: string[] = [];
  const io: Io = {
    print: () => {},
    send: async () => {},
    note: (line) => shown.push(`note ${plainText(line)}`),
    live: (text) => shown.push(`live ${text}`),
    isTerminal: isLive,
    secrets: new Secrets(),
    signal: new AbortController().signal,
  };
  const log: Log = {
    ...silentLog,
    info: (text, fields) => shown.push(`info ${text} ${JSON.stringify(fields)}`),
  };
  const env = { now: () => nowMs, randomBytes: () => new Uint8Array(), sleep: async () => {} };
  const progress = createProgress(io, log, env, isLive);
  return {
    progress,
    shown,
    page: (job: string, level: number, rows: number, afterMs: number) => {
      nowMs += afterMs;
      progress.page?.({ job, level, page: 1, rows, bytes: 1500 });
    },
  };
}

// only what the progress looks at
const row = (id: string): RowRun => ({ id, name: 'Books' }) as RowRun;

describe('progress on a terminal', () => {
  test('is one line that goes on, and stays with the reason', () => {
    const { progress, shown, page } = watch(true);
    Object.assign(progress, progress.ofRow?.(row('a')));
    page('books', 0, 1000, 500);
    page('books', 0, 1000, 50);
    page('loans', 1, 500, 450);
    progress.end?.({ job: 'loans', level: 1, pages: 1, reason: { code: 'noPagination' } });
    progress.end?.({ job: 'books', level: 0, pages: 2, reason: { code: 'noRows' } });
    progress.stop();
    expect(shown).toEqual([
      'live Books / waiting for the first page …',
      'live Books / books: 1 page, 1,000 rows, 2,000 rows/s, 1.5 kB',
      'live Books / books: 3 pages, 2,500 rows, 2,500 rows/s, 4.5 kB',
      'live ',
      'note Books / books: 3 pages, 2,500 rows, 2,500 rows/s, 4.5 kB; the page has no rows',
      'live ',
    ]);
  });
});

describe('progress elsewhere', () => {
  test('is a log line for each job that ended, and one every ten seconds until then', () => {
    const { progress, shown, page } = watch(false);
    for (let i = 0; i < 4; i++) page('books', 0, 100, 6000);
    progress.end?.({ job: 'books', level: 0, pages: 4, reason: { code: 'noRows' } });
    expect(shown).toEqual([
      'info “books” goes on: 2 pages, 200 rows, 17 rows/s, 3.0 kB {"pages":2,"rows":200,"bytes":3000,"ms":12000}',
      'info “books” goes on: 4 pages, 400 rows, 17 rows/s, 6.0 kB {"pages":4,"rows":400,"bytes":6000,"ms":24000}',
      'info “books” ended after 4 pages, 400 rows, 17 rows/s, 6.0 kB: the page has no rows {"job":"books","pages":4,"rows":400,"bytes":6000,"ms":24000}',
    ]);
  });
});

describe('log lines', () => {
  test('have a form for containers, for files and for terminals', () => {
    const event = ['warn', 'two\nlines', { job: 'books', page: 2 }] as const;
    expect(componentLine(0, ...event)).toBe(
      '[1970-01-01T00:00:00.000Z] generic-extractor.WARNING: two lines {"job":"books","page":2} []',
    );
    expect(componentLine(0, 'info', 'done', {})).toBe(
      '[1970-01-01T00:00:00.000Z] generic-extractor.INFO: done [] []',
    );
    expect(plainLine(0, ...event)).toBe(
      '1970-01-01T00:00:00.000Z WARNING two lines {"job":"books","page":2}',
    );
    expect(plainText(terminalLine(...event))).toBe('warning: two lines (job books, page 2)');
    expect(plainText(terminalLine('info', 'done', {}))).toBe('done');
  });

  test('leave out what is below the level, and hide secrets in text, numbers and depth', () => {
    const secrets = new Secrets();
    secrets.add('swordfish');
    secrets.add('123456');
    const events: unknown[] = [];
    const log = createLog((...event) => events.push(event), { level: 'info', secrets });
    log.debug('not shown');
    log.info('a swordfish', { n: 123456, deep: [{ text: 'swordfish' }], none: null });
    log.setLevel('debug');
    log.debug('shown');
    expect(events).toEqual([
      ['info', 'a ***', { n: '***', deep: [{ text: '***' }], none: null }],
      ['debug', 'shown', {}],
    ]);
  });
});

test('numbers are easy to read', () => {
  expect([0, 999, 1000, 1234567].map(formatCount)).toEqual(['0', '999', '1,000', '1,234,567']);
  expect([0, 999, 1000, 9940, 12_345, 999_600, 5e9].map(formatBytes)).toEqual([
    '0 B',
    '999 B',
    '1.0 kB',
    '9.9 kB',
    '12 kB',
    '1.0 MB',
    '5.0 GB',
  ]);
  expect(
    formatTable(
      ['a', 'n'],
      [
        ['x', '10'],
        ['long', '5'],
      ],
      ['n'],
    ),
  ).toBe('a      n\nx     10\nlong   5');
});
