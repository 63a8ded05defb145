import { json, startApi, type Api } from '../../../cli/support.ts';

const ROWS = [1, 2, 3, 4, 5, 6, 7].map((id) => ({
  id,
  name: `Row ${id}`,
  owner: { city: `City ${id}` },
  updated_at: `2026-01-0${id}T00:00:00Z`,
}));

const part = (from: number, size = 3): typeof ROWS => ROWS.slice(from, from + size);
const next = (page: number): number | null => (page * 3 < ROWS.length ? page + 1 : null);

/** An API with a list in each of the ways that pages follow in. */
export async function startShop(): Promise<Api> {
  const api: Api = await startApi(({ url, headers }, response) => {
    const { pathname, searchParams: query } = url;
    if (headers.authorization !== 'Bearer t-1') return json(response, { message: 'Who are you?' }, 401);
    const number = (name: string, usual: number): number => Number(query.get(name) ?? usual);
    const page = number('page', 1);
    switch (pathname) {
      case '/token': {
        return json(response, { items: part((page - 1) * 3), next_page: next(page) });
      }
      case '/pages':
        return json(response, { items: part((page - 1) * 3), hasMore: next(page) !== null });
      case '/offset':
        return json(response, part(number('offset', 0), number('limit', 3)));
      case '/totals': {
        const offset = number('offset', 0);
        return json(response, {
          items: part(offset, number('limit', 3)),
          pagination: { offset, limit: 3, total: ROWS.length },
        });
      }
      case '/links': {
        const after = next(page);
        if (after !== null)
          response.setHeader(
            'Link',
            `<http://${headers.host ?? ''}/links?per_page=3&page=${after}>; rel="next"`,
          );
        return json(response, part((page - 1) * 3));
      }
      case '/header': {
        const after = next(page);
        if (after !== null) response.setHeader('X-Next-Page', String(after));
        return json(response, part((page - 1) * 3));
      }
      case '/hateoas': {
        const after = next(page);
        return json(response, {
          items: part((page - 1) * 3),
          next: after === null ? null : `http://${headers.host ?? ''}/hateoas?page=${after}`,
        });
      }
      case '/since': {
        const since = (query.get('since') ?? '').replace(/^gt/, '');
        return json(
          response,
          ROWS.filter((row) => row.updated_at >= since),
        );
      }
      default:
        return json(response, { message: 'There is nothing here' }, 404);
    }
  });
  return api;
}
