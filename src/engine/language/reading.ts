import {
  compilePath,
  getKey,
  isList,
  isNumber,
  keysOf,
  listInContext,
  toText,
  type AnyObject,
  type Json,
  type Path,
} from '../../lib/json/index.ts';
import { kindOf } from '../../lib/read-settings.ts';
import { meantAndKnown, meantOr } from '../../lib/suggest.ts';
import { isContext, type SourceContext, type SourceKind } from './kinds.ts';
import { parseLinkHeader, plainLink, type Link } from './link-header.ts';
import { compilePlace } from './place.ts';
import { invalidSetting } from './value-settings.ts';
import {
  needsOf,
  NOTHING,
  type CompileSource,
  type Read,
  type SourceNeeds,
  type SourceOptions,
} from './types.ts';
import { ANSWER_FACTS, type AnswerFact } from './view.ts';

const PARTS = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(?:#.*)?$/is;

/**
 * Resolves a reference against the URL of the page it came from (RFC 3986, 5.2), without changing a byte of the
 * reference itself: servers sign links, and a re-encoded one may no longer be valid. A whole URL stays as it is.
 */
export function resolveReference(reference: string, base: string): string {
  const [, scheme, authority, path = '', query = ''] = PARTS.exec(reference) ?? [];
  if (scheme !== undefined) return reference;
  const [, baseScheme = '', baseAuthority = '', basePath = '', baseQuery = ''] = PARTS.exec(base) ?? [];
  if (authority !== undefined) return `${baseScheme}://${authority}${withoutDots(path)}${query}`;
  const origin = `${baseScheme}://${baseAuthority}`;
  if (path === '') return origin + basePath + (query || baseQuery);
  if (path.startsWith('/')) return origin + withoutDots(path) + query;
  const folder = basePath.slice(0, basePath.lastIndexOf('/') + 1) || '/';
  return origin + withoutDots(folder + path) + query;
}

/** Removes the `.` and `..` segments of a path (RFC 3986, 5.2.4). */
function withoutDots(path: string): string {
  const segments = path.split('/');
  const out: string[] = [];
  for (const [i, segment] of segments.entries()) {
    const isLast = i === segments.length - 1;
    if (segment === '..' && out.length > 1) out.pop();
    if (segment !== '.' && segment !== '..') out.push(segment);
    else if (isLast) out.push('');
  }
  return out.join('/');
}

const RESPONSE: SourceNeeds = { ...NOTHING, origins: ['response'] };
const ROW: SourceNeeds = { ...NOTHING, origins: ['rows'] };
const ROWS: SourceNeeds = { ...ROW, rows: true };
const RUN: SourceNeeds = { ...NOTHING, origins: ['run'] };
const PAGE: SourceNeeds = { ...NOTHING, origins: ['page'] };

/** Returns the reading of one kind of source, before `match` and its like. */
export function readingOf(
  kind: SourceKind,
  value: Json,
  options: SourceOptions,
  compile: CompileSource,
  beside?: AnyObject,
): Read {
  if (isContext(kind)) return contextReading(kind, textAt(kind, value, options), options, beside);
  switch (kind) {
    case 'value':
      return { text: 'a constant', needs: NOTHING, read: () => value };
    case 'request': {
      const { at, invalid = invalidSetting } = options;
      const place = compilePlace(value, { ...options, at: `${at}.request` });
      if (place.isInText)
        throw invalid(
          `${at}.request`,
          `What was put into ${place.text} cannot be read again.`,
          'Take {"answer": "page"} or {"answer": "read"}, or what the response says of it.',
        );
      return {
        text: `${place.text} of the request`,
        needs: RUN,
        read: ({ request }) => (request === undefined ? undefined : place.read(request)),
      };
    }
    case 'firstOf':
      return firstOf(value, options, compile);
    case 'answer':
      return answerReading(value, options);
    case 'header': {
      const name = textAt(kind, value, options).toLowerCase();
      const needs = { ...RESPONSE, headers: [name] };
      return { text: `the header ${toText(value)}`, needs, read: (view) => view.header?.(name) };
    }
    case 'link':
      return linkReading(textAt(kind, value, options), beside, options);
    default:
      return pathReading(kind, pathAt(kind, value, options, beside));
  }
}

function pathReading(
  kind: Exclude<SourceKind, SourceContext | 'value' | 'request' | 'firstOf' | 'answer' | 'header' | 'link'>,
  path: Path,
): Read {
  const { text } = path;
  if (kind === 'path') return { text, path, needs: RESPONSE, read: (view) => view.here(path) };
  if (kind === 'response') return { text, path, needs: RESPONSE, read: (view) => view.response?.(path) };
  if (kind === 'row') return { text, needs: ROW, read: (view) => view.row?.(path) };
  if (kind === 'first' || kind === 'last')
    return { text: `${text} of the ${kind} row`, needs: ROWS, read: (view) => view.edge?.(kind, path) };
  const what = kind === 'min' ? 'smallest' : 'largest';
  return { text: `the ${what} ${text}`, needs: ROWS, read: (view) => view.extreme?.(kind, path) };
}

/**
 * Returns the reading of a named value. A missing attribute is a mistake of the configuration; others may come later.
 */
function contextReading(
  kind: SourceContext,
  name: string,
  options: SourceOptions,
  beside: AnyObject | undefined,
): Read {
  const { at, invalid = invalidSetting } = options;
  const mustBe = kind === 'attr' && (beside === undefined || getKey(beside, 'default') === undefined);
  return {
    text: `${kind} ${name}`,
    needs: NOTHING,
    read(view) {
      const contexts = view.contexts?.() ?? {};
      const values = Object.hasOwn(contexts, kind) ? contexts[kind] : undefined;
      const value = values === undefined ? undefined : (getKey(values, name) ?? listInContext(values, name));
      if (value !== undefined || !mustBe) return value;
      throw invalid(
        at,
        `There is no attribute “${name}”.`,
        meantOr(name, values === undefined ? [] : keysOf(values), 'Attributes are the keys of “config”.'),
      );
    },
  };
}

/** Returns the reading of the first source with a value: not absent, not null, not an empty text. */
function firstOf(value: Json, options: SourceOptions, compile: CompileSource): Read {
  const { invalid = invalidSetting } = options;
  const at = `${options.at}.firstOf`;
  if (!isList(value) || value.length === 0)
    throw invalid(at, `“firstOf” needs a list of sources, and here is ${kindOf(value)}.`);
  const sources = value.map((item, i) => compile(item, { ...options, at: `${at}[${i}]` }));
  return {
    text: sources.map(({ text }) => text).join(' or '),
    needs: needsOf(sources),
    read(view) {
      for (const source of sources) {
        const found = source.read(view);
        if (found !== undefined && found !== null && found !== '') return found;
      }
      return undefined;
    },
  };
}

function answerReading(value: Json, { at, invalid = invalidSetting }: SourceOptions): Read {
  const fact = ANSWER_FACTS.find((name) => name === value);
  if (fact === undefined)
    throw invalid(
      `${at}.answer`,
      'This is nothing that is known of an answer.',
      meantAndKnown(value, ANSWER_FACTS),
    );
  return { text: FACT_TEXTS[fact], needs: FACT_NEEDS[fact], read: (view) => view.answer?.(fact) };
}

const FACT_TEXTS: Readonly<Record<AnswerFact, string>> = {
  status: 'the status',
  page: 'the number of the page',
  rows: 'the number of rows',
  read: 'the number of rows so far',
  bytes: 'the number of bytes',
  url: 'the address that answered',
};

const FACT_NEEDS: Readonly<Record<AnswerFact, SourceNeeds>> = {
  status: PAGE,
  page: RUN,
  rows: PAGE,
  read: RUN,
  bytes: PAGE,
  url: RESPONSE,
};

/**
 * Returns the reading of the address of a link of the header `Link` (RFC 8288), resolved against the page; or of one of
 * its attributes.
 */
function linkReading(
  rel: string,
  beside: AnyObject | undefined,
  { at, invalid = invalidSetting }: SourceOptions,
): Read {
  const attribute = beside && getKey(beside, 'attribute');
  const find = beside !== undefined && getKey(beside, 'plain') === true ? plainLink : standardLink;
  if (attribute !== undefined && typeof attribute !== 'string')
    throw invalid(`${at}.attribute`, `The name of an attribute is a text, and here is ${kindOf(attribute)}.`);
  const name = attribute?.toLowerCase();
  return {
    text: name === undefined ? `the link “${rel}”` : `${name} of the link “${rel}”`,
    needs: { ...RESPONSE, headers: ['link'] },
    read(view) {
      const url = view.answer?.('url');
      const base = typeof url === 'string' ? url : '';
      const link = find(view.header?.('link') ?? '', rel, base);
      if (link === undefined) return undefined;
      return name === undefined ? resolveReference(link.target, base) : link.attributes.get(name);
    },
  };
}

/** Finds a link as the standard says: a relation is one of several words, in any case, and of this page. */
function standardLink(
  header: string,
  rel: string,
  page: string,
): Pick<Link, 'target' | 'attributes'> | undefined {
  const isPage = (anchor: string): boolean =>
    !anchor.includes('#') && resolveReference(anchor, page) === page;
  return parseLinkHeader(header).find(
    ({ rels, anchor }) => rels.includes(rel.toLowerCase()) && (anchor === undefined || isPage(anchor)),
  );
}

function pathAt(kind: SourceKind, value: Json, options: SourceOptions, beside: AnyObject | undefined): Path {
  const at = beside === undefined ? options.at : `${options.at}.${kind}`;
  const own = beside && getKey(beside, 'delimiter');
  const delimiter = typeof own === 'string' ? own : options.delimiter;
  return compilePath(textAt(kind, value, options), {
    at,
    ...(delimiter === undefined ? {} : { delimiter }),
    ...(options.isKeyFirst === undefined ? {} : { isKeyFirst: options.isKeyFirst }),
  });
}

function textAt(kind: SourceKind, value: Json, { at, invalid = invalidSetting }: SourceOptions): string {
  const text = typeof value === 'string' || isNumber(value) ? toText(value) : '';
  if (text !== '') return text;
  throw invalid(`${at}.${kind}`, `“${kind}” needs a text, and here is ${kindOf(value)}.`);
}
