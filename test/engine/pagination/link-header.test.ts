import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseLinkHeader } from '../../../src/engine/language/link-header.ts';
import { resolveReference } from '../../../src/engine/language/reading.ts';
import { items, paginatorOf, run, type Answer } from './helpers.ts';
import { workMs } from '../../support/work.ts';

const page = (link?: string, url?: string): Answer => ({
  body: items(1),
  headers: link === undefined ? {} : { link },
  ...(url === undefined ? {} : { url }),
});

/** The request that follows a page with a header, where relations are read as one text. */
const nextOfPlain = (link: string): string =>
  run(paginatorOf({ method: 'link', plain: true }), [page(link), page()]).shown[1] ?? 'none';

describe('link', () => {
  test('follows the next link byte for byte until there is none', () => {
    const { requests, stop } = run(paginatorOf({ method: 'link' }, { params: { q: 'x' } }), [
      page(
        '<https://api.example.com/u?page=2&q=a%2fb>; rel="next", <https://api.example.com/u?page=9>; rel="last"',
      ),
      page('<https://api.example.com/u?page=1>; rel="prev"'),
    ]);
    expect(requests[1]).toEqual({
      endpoint: 'https://api.example.com/u?page=2&q=a%2fb',
      method: 'GET',
      params: {},
      headers: {},
      fromResponse: true,
    });
    expect(stop).toBe('the response has no link with the relation "next"');
  });

  test('another relation may be followed, whatever its case', () => {
    const { shown } = run(paginatorOf({ method: 'link', rel: 'Older' }), [
      page('</o>; rel=OLDER'),
      page('</n>; rel=next'),
    ]);
    expect(shown[1]).toBe('GET https://api.example.com/o {}');
  });

  test('plain: a relation is one text, and a header is cut at its signs, as simple clients do', () => {
    for (const link of [
      '</2>; rel=Next',
      '</2>; rel="next last"',
      '</2>; Rel="next"',
      '</2>; title="a; b"; rel="next"',
      '',
    ])
      expect(nextOfPlain(link)).toBe('none');
    for (const link of [
      '</2>; rel="next"',
      "</1>;rel=prev,</2>; rel='next'",
      '</2>; rel="next"; anchor="#foo"',
      '</1>; rel="next", </2>; rel="next"',
      '</2>; rel="next"; title="a=b"',
    ])
      expect(nextOfPlain(link)).toBe('GET https://api.example.com/2 {}');
  });

  test('includeParams keeps the parameters of the job', () => {
    const paginator = paginatorOf(
      { method: 'link', includeParams: true },
      { method: 'POST', params: { q: 'x' } },
    );
    expect(run(paginator, [page('</2>; rel=next'), page()]).shown[1]).toBe(
      'POST https://api.example.com/2 {"q":"x"}',
    );
  });

  test('a relative link is resolved against the page it came with', () => {
    const { shown } = run(paginatorOf({ method: 'link' }), [
      page('<?page=2>; rel=next', 'https://other.example/v1/users?page=1'),
      page(),
    ]);
    expect(shown[1]).toBe('GET https://other.example/v1/users?page=2 {}');
  });

  test('a link about another page is not followed, one about this page is', () => {
    const { shown } = run(paginatorOf({ method: 'link' }), [
      page('</a>; rel=next; anchor="/elsewhere", </b>; rel=next; anchor="/users"'),
      page('</c>; rel=next; anchor="#part"'),
    ]);
    expect(shown).toEqual(['GET users {}', 'GET https://api.example.com/b {}']);
  });
});

const quote = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

describe('the Link header (RFC 8288)', () => {
  test.each<[string, string, object[]]>([
    ['one link', '</a>; rel=next', [{ target: '/a', rels: ['next'] }]],
    ['a quoted relation', '</a>;rel="next"', [{ target: '/a', rels: ['next'] }]],
    ['single quotes, which are none', "</a>; rel='next'; title=it's", [{ target: '/a', rels: ['next'] }]],
    ['several relations', '</a>; rel="first  NEXT"', [{ target: '/a', rels: ['first', 'next'] }]],
    ['parameters in any order', '</a>; title="x"; rel=next; type=b', [{ target: '/a', rels: ['next'] }]],
    ['names in any case', '</a>; REL=next', [{ target: '/a', rels: ['next'] }]],
    [
      'white space around everything',
      ' \t</a> ; rel = "next" , </b>',
      [
        { target: '/a', rels: ['next'] },
        { target: '/b', rels: [] },
      ],
    ],
    [
      'commas and semicolons in the target',
      '</a;b,c?d=1,2>; rel=next',
      [{ target: '/a;b,c?d=1,2', rels: ['next'] }],
    ],
    [
      'commas and semicolons in quotes',
      '</a>; title="x, <y>; rel=no"; rel=next',
      [{ target: '/a', rels: ['next'] }],
    ],
    ['escapes in quotes', '</a>; title="x\\"; rel=no"; rel="ne\\xt"', [{ target: '/a', rels: ['next'] }]],
    ['only the first relation counts', '</a>; rel=prev; rel=next', [{ target: '/a', rels: ['prev'] }]],
    ['parameters without a value', '</a>; foo; rel=next', [{ target: '/a', rels: ['next'] }]],
    ['an anchor', '</a>; rel=next; anchor="#x"', [{ target: '/a', rels: ['next'], anchor: '#x' }]],
    [
      'headers joined by commas',
      '</a>; rel=prev, </b>; rel=next',
      [
        { target: '/a', rels: ['prev'] },
        { target: '/b', rels: ['next'] },
      ],
    ],
    ['empty elements', ', ,</a>; rel=next,,', [{ target: '/a', rels: ['next'] }]],
    ['an empty target', '<>; rel=next', [{ target: '', rels: ['next'] }]],
    ['an empty header', '', []],
    ['no link at all', 'next', []],
    ['a target without end', '</a; rel=next', []],
    ['a broken end after a good link', '</a>; rel=next, oops', [{ target: '/a', rels: ['next'] }]],
    ['a quote without end', '</a>; rel="next', [{ target: '/a', rels: ['next'] }]],
  ])('%s', (_name, header, links) => {
    expect(parseLinkHeader(header).map(withoutAttributes)).toEqual(links);
  });

  test('what is written comes back', () => {
    const target = fc.webUrl({ withQueryParameters: true });
    const title = fc.string();
    fc.assert(
      fc.property(fc.array(fc.record({ target, title })), (links) => {
        const header = links
          .map((link) => `<${link.target}>; title=${quote(link.title)}; rel="next"`)
          .join(', ');
        expect(parseLinkHeader(header).map(withoutAttributes)).toEqual(
          links.map((link) => ({ target: link.target, rels: ['next'] })),
        );
      }),
    );
  });

  test.each(['<', ';', '"', ' ', ',', '\\', '<a>;', '<a>;a="\\'])(
    '%j without end is read in linear time',
    (part) => {
      const ms = workMs(() => {
        parseLinkHeader(`<a>; b="${part.repeat(100_000)}`);
        parseLinkHeader(part.repeat(100_000));
      });
      expect(ms).toBeLessThan(1000);
    },
  );
});

describe('a reference and the page it came with', () => {
  const base = 'http://a/b/c/d;p?q';
  test.each([
    // RFC 3986, 5.4.1 and 5.4.2
    ['g:h', 'g:h'],
    ['g', 'http://a/b/c/g'],
    ['./g', 'http://a/b/c/g'],
    ['g/', 'http://a/b/c/g/'],
    ['/g', 'http://a/g'],
    ['//g', 'http://g'],
    ['?y', 'http://a/b/c/d;p?y'],
    ['g?y', 'http://a/b/c/g?y'],
    [';x', 'http://a/b/c/;x'],
    ['', 'http://a/b/c/d;p?q'],
    ['.', 'http://a/b/c/'],
    ['..', 'http://a/b/'],
    ['../g', 'http://a/b/g'],
    ['../..', 'http://a/'],
    ['../../g', 'http://a/g'],
    ['../../../g', 'http://a/g'],
    ['/./g', 'http://a/g'],
    ['/../g', 'http://a/g'],
    ['g.', 'http://a/b/c/g.'],
    ['..g', 'http://a/b/c/..g'],
    ['./g/.', 'http://a/b/c/g/'],
    ['g/./h', 'http://a/b/c/g/h'],
    ['g/../h', 'http://a/b/c/h'],
    ['g?y/../x', 'http://a/b/c/g?y/../x'],
    // bytes that a URL class would change
    ["g?a=%2f b|{c}'", "http://a/b/c/g?a=%2f b|{c}'"],
    ['https://x/../y?a=%7e', 'https://x/../y?a=%7e'],
  ])('%j is %j', (reference, url) => {
    expect(resolveReference(reference, base)).toBe(url);
  });

  test('a base without a path has the root', () => {
    expect(resolveReference('g', 'http://a')).toBe('http://a/g');
  });
});

function withoutAttributes({
  attributes: _attributes,
  ...link
}: ReturnType<typeof parseLinkHeader>[number]): object {
  return link;
}
