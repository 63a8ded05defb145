import { isObject, parseExact, entriesOf, type Json } from '../../lib/json/index.ts';
import { parseLinkHeader } from '../language/index.ts';
import { remember } from '../../lib/remember.ts';
import { meaningsOf } from './classify.ts';
import type { Sign } from './sign.ts';
import { HEADER, NOT_A_HEADER } from './signs.ts';
import { signsOf } from './values.ts';

const isTelling = remember((name) => HEADER.test(name) && !NOT_A_HEADER.test(name));

/** Signs in the headers of a response; names are in lower case. */
export function readHeaders(headers: Readonly<Record<string, string | undefined>>): Sign[] {
  const signs: Sign[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || !isTelling(name)) continue;
    const path = `header ${name}`;
    if (name === 'link') signs.push(...linkSigns(value, path));
    else if (name === 'content-range') signs.push(...rangeSigns(value, path));
    else if (value.startsWith('{')) signs.push(...objectSigns(value, path));
    else {
      const bare = name
        .replace(/^x-/, '')
        .replace(/^(?:wp|pagination|paging|list|collection|opc|ms|odata)-/, '');
      const topics = meaningsOf(bare).filter(({ topic }) => IN_HEADERS.has(topic));
      for (const sign of signsOf(topics, value, path))
        signs.push(
          sign.kind === 'total' ? { ...sign, strength: bare === 'count' ? 'weak' : 'strong' } : sign,
        );
    }
  }
  return signs;
}

const IN_HEADERS = new Set<string>(['total', 'pages', 'page', 'next', 'more', 'size', 'end', 'previous']);

/** Returns the signals of `<https://…>; rel="next"`; a link with `results="false"` leads to nothing. */
function linkSigns(value: string, path: string): Sign[] {
  return parseLinkHeader(value).flatMap(({ target, rels, attributes }): Sign[] => {
    if (attributes.get('results')?.toLowerCase() === 'false')
      return rels.includes('next') ? [{ kind: 'noNext', path, strength: 'strong' }] : [];
    if (rels.includes('next')) return [{ kind: 'next', path, strength: 'strong' }];
    // a list from new to old: the link leads to rows that do not exist yet
    if (NEWER.test(target)) return [];
    return rels.some((word) => word === 'prev' || word === 'previous')
      ? [{ kind: 'previous', path, strength: 'strong' }]
      : [];
  });
}

const NEWER = /[?&](?:min_id|since_id)=/;

/** Returns the signals of `items 0-24/131`. */
function rangeSigns(value: string, path: string): Sign[] {
  const found = /(?:(?<!\d)(\d+)\s*-\s*\d+|\*)\s*\/\s*(\d+)$/.exec(value.trim());
  if (found === null || /^\s*bytes/i.test(value)) return [];
  return [
    { kind: 'total', path, strength: 'strong', value: Number(found[2]) },
    ...(found[1] === undefined
      ? []
      : [{ kind: 'offset' as const, path, strength: 'strong' as const, value: Number(found[1]) }]),
  ];
}

/** Returns the signals of `{"total": 131, "next_page": 2}`. */
function objectSigns(text: string, path: string): Sign[] {
  let value: Json;
  try {
    value = parseExact(text);
  } catch {
    return [];
  }
  return isObject(value)
    ? entriesOf(value).flatMap(([name, item]) => signsOf(meaningsOf(name), item, `${path}.${name}`))
    : [];
}
