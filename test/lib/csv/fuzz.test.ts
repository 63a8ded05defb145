import { describe, expect, test } from 'vitest';
import { parse } from 'csv-parse/sync';
import { createDialect } from '../../../src/lib/csv/dialect.ts';
import { parseRows } from '../../../src/lib/csv/read-csv.ts';
import { times } from '../../support/sample.ts';

/*
 * The verdict of csv-parse with these options is the same as ours, and so are the cells. Where they differ we
 * decided so; `isDecidedOtherwise` names each case, and the test counts that there are few:
 *
 * - A carriage return alone, outside quotes: data for csv-parse, an error for us (RFC 4180 has none in bare cells;
 *   a file with old line ends would be one record).
 * - NUL: data for csv-parse, an error for us, since tables can't hold it.
 * - Text that is not UTF-8: csv-parse replaces it, we refuse it. Not generated here; `scan.test.ts` has it.
 */
const OPTIONS = {
  bom: true,
  record_delimiter: ['\n', '\r\n'],
  relax_column_count: false,
  relax_quotes: false,
  skip_empty_lines: false,
  trim: false,
};

const PIECES = [
  'a',
  'bc',
  'é',
  '😀',
  ' ',
  ',',
  ',',
  ',',
  '\n',
  '\n',
  '\r\n',
  '\r',
  '"',
  '""',
  '"x"',
  '"x,\ny"',
  '"\r\n"',
  '\ufeff',
  '\0',
];
const BODIES = times(100_000);

describe('generated bodies', () => {
  test('get the same verdict and the same cells as from csv-parse', () => {
    const next = randomNumbers(20_261_121);
    const dialect = createDialect();
    const seen = { accepted: 0, refused: 0, decided: 0 };
    for (let i = 0; i < BODIES; i++) {
      const body = i % 2 === 0 ? soup(next) : almostValid(next);
      const ours = outcome(() => parseRows(Buffer.from(body), dialect));
      if (isDecidedOtherwise(body)) {
        seen.decided++;
        expect(ours, JSON.stringify(body)).toBe('refused');
        continue;
      }
      const theirs = outcome(() => parse(body, OPTIONS));
      if (ours !== theirs) expect(ours, JSON.stringify(body)).toBe(theirs);
      seen[ours === 'refused' ? 'refused' : 'accepted']++;
    }
    expect(seen.accepted).toBeGreaterThan(BODIES / 4);
    expect(seen.refused).toBeGreaterThan(BODIES / 10);
    expect(seen.decided).toBeLessThan(BODIES / 4);
  });
});

/** CR alone outside quotes, or NUL: we refuse such a body, whatever else is in it. */
function isDecidedOtherwise(body: string): boolean {
  if (body.includes('\0')) return true;
  let isQuoted = false;
  for (let i = 0; i < body.length; i++) {
    if (body[i] === '"') isQuoted = !isQuoted;
    else if (body[i] === '\r' && !isQuoted && body[i + 1] !== '\n') return true;
  }
  return false;
}

/** Pieces in any order: mostly wrong. */
function soup(next: (below: number) => number): string {
  let body = '';
  for (let left = next(9); left > 0; left--) body += PIECES[next(PIECES.length)] ?? '';
  return body;
}

/** A table with BOM, either line end, with and without the last one, and at times one piece too many. */
function almostValid(next: (below: number) => number): string {
  const columns = 1 + next(3);
  const lineEnd = next(2) === 0 ? '\n' : '\r\n';
  const lines = Array.from({ length: next(4) }, () =>
    Array.from({ length: columns }, () =>
      next(2) === 0 ? `"${'q""\n,\r\n'.slice(0, [0, 1, 3, 4, 5, 7][next(6)])}"` : 'v'.repeat(next(3)),
    ).join(','),
  );
  const body = (next(5) === 0 ? '\ufeff' : '') + lines.join(lineEnd) + (next(2) === 0 ? lineEnd : '');
  if (next(3) > 0) return body;
  const at = next(body.length + 1);
  return body.slice(0, at) + (PIECES[next(PIECES.length)] ?? '') + body.slice(at);
}

function outcome(work: () => unknown): string {
  try {
    return JSON.stringify(work());
  } catch {
    return 'refused';
  }
}

/** A fixed sequence (Numerical Recipes' generator), the same in every run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % below;
  };
}
