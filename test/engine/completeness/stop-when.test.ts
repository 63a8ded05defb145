import { describe, expect, test } from 'vitest';
import { played } from './played.ts';

async function verdictOf(pagination: object, bodies: readonly object[]): Promise<string> {
  const configuration = {
    parameters: {
      api: { baseUrl: 'https://api.example.com/', pagination },
      config: { jobs: [{ endpoint: 'items', dataField: 'items' }] },
    },
  };
  const answers = bodies.map((body) => ({ headers: {}, body: JSON.stringify(body) }));
  const [report] = await played(JSON.stringify(configuration), answers);
  const [first] = report?.doubtful ?? [];
  return [report?.verdict, ...(first?.doubts ?? []).map(({ code }) => code)].join(' ');
}

const rows = (from: number, more: object = {}): object => ({
  items: [{ id: from }, { id: from + 1 }],
  ...more,
});
const stopAt = (value: unknown, is: string, than: unknown): object => ({
  method: 'pagenum',
  stopWhen: { value, is, than },
});

describe('a stop by a condition', () => {
  test.each<[string, object, readonly object[], string]>([
    [
      'over the response is the word of the API',
      stopAt('at', 'atLeast', { path: 'of' }),
      [rows(1, { at: 1, of: 2 }), rows(3, { at: 2, of: 2 })],
      'complete',
    ],
    [
      'over the response is doubted by a total',
      stopAt('at', 'atLeast', { path: 'of' }),
      [rows(1, { at: 1, of: 1, total: 9 })],
      'doubtful totalAbove',
    ],
    [
      'over the number of the page is a cut',
      stopAt({ answer: 'page' }, 'atLeast', 1),
      [rows(1, { total: 9 })],
      'cut',
    ],
    ['over the last row is a cut', stopAt({ last: 'id' }, 'above', 1), [rows(1)], 'cut'],
    ['over the number of rows is a rule', stopAt({ answer: 'rows' }, 'below', 3), [rows(1)], 'ended'],
    [
      'over the number of rows is doubted by a flag',
      stopAt({ answer: 'rows' }, 'below', 3),
      [rows(1, { has_more: true })],
      'doubtful moreFlag',
    ],
  ])('%s', async (_name, pagination, bodies, verdict) => {
    expect(await verdictOf(pagination, bodies)).toBe(verdict);
  });
});

test('the number of the next page, beside its token, is not that of the first', async () => {
  const pagination = {
    method: 'response.param',
    responseParam: 'pages.next.token',
    queryParam: { param: 'token' },
  };
  expect(
    await verdictOf(pagination, [
      rows(1, { pages: { next: { page: 2, token: 'x' } } }),
      rows(3, { pages: {} }),
    ]),
  ).toBe('complete');
});
