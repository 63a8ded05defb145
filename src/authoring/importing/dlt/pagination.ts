import { Untaken, type SourceFindings } from './findings.ts';
import { onePathOf } from './paths.ts';
import { PythonCall, call, Code, type TranslatedValue, type Value, ValueMap } from './value.ts';

type Map = Readonly<Record<string, TranslatedValue>>;

/** The pagination of a resource. */
export interface ResourcePagination {
  readonly pagination: Map;
  /** True where later requests leave out the parameters of the first one. */
  readonly followsAddress: boolean;
  /** Paths of a total or a flag of more that it looks at itself. */
  readonly signs?: readonly string[];
}

/** Classes of paginators, by the word of the same in a configuration. */
const CLASSES: Readonly<Record<string, string>> = {
  JSONLinkPaginator: 'json_link',
  JSONResponsePaginator: 'json_link',
  HeaderLinkPaginator: 'header_link',
  HeaderCursorPaginator: 'header_cursor',
  JSONResponseCursorPaginator: 'cursor',
  OffsetPaginator: 'offset',
  PageNumberPaginator: 'page_number',
  SinglePagePaginator: 'single_page',
};

/** Parameters of the classes in the order of their constructors. */
const POSITIONS: Readonly<Record<string, readonly string[]>> = {
  json_link: ['next_url_path'],
  header_link: ['links_next_key'],
  header_cursor: ['cursor_key', 'cursor_param'],
  cursor: ['cursor_path', 'cursor_param', 'cursor_body_path'],
  offset: [
    'limit',
    'offset',
    'offset_param',
    'limit_param',
    'total_path',
    'maximum_offset',
    'stop_after_empty_page',
  ],
  page_number: ['base_page', 'page', 'page_param', 'total_path', 'maximum_page', 'stop_after_empty_page'],
  single_page: [],
};

export interface ResourceContext {
  readonly findings: SourceFindings;
  /** True where the parameters of the request are in the query anyway. */
  readonly isGet: boolean;
}

type Build = (options: Options, findings: SourceFindings) => ResourcePagination;

/** @throws {Untaken} for a paginator of one's own, or an option that has no counterpart */
export function readPaginator(
  value: Value | undefined,
  { findings, isGet }: ResourceContext,
): ResourcePagination {
  const { type, options } = parsed(value);
  const build = TYPES[type];
  if (build === undefined) throw new Untaken(`the paginator “${type}”`, value);
  return build(new Options(options, type, isGet), findings);
}

function parsed(value: Value | undefined): { readonly type: string; readonly options: ValueMap } {
  if (value === undefined || value === null) return { type: 'auto', options: new ValueMap([]) };
  if (typeof value === 'string') return { type: value, options: new ValueMap([]) };
  if (value instanceof ValueMap) {
    const type = value.get('type') ?? 'auto';
    if (typeof type !== 'string') throw new Untaken('a paginator without a type', value);
    return { type, options: value };
  }
  if (value instanceof PythonCall) {
    const type = CLASSES[value.name];
    if (type === undefined) throw new Untaken(`the class ${value.name}, which is Python code`, value);
    const names = POSITIONS[type] ?? [];
    const given = value.args.map((item, i) => [names[i] ?? '', item] as const);
    return { type, options: new ValueMap([...given, ...value.keywords.entries], value.keywords.open) };
  }
  throw new Untaken('a paginator that is Python code', value);
}

/** The options of one paginator; each that is known is taken once, and another is not passed over. */
class Options {
  readonly #map: ValueMap;
  readonly #type: string;
  readonly #isGet: boolean;

  constructor(map: ValueMap, type: string, isGet: boolean) {
    this.#map = map;
    this.#isGet = isGet;
    this.#type = type;
    const [open] = map.open;
    if (open !== undefined) throw new Untaken('a paginator with options that code makes', open);
    const known = [
      ...(POSITIONS[type] ?? []),
      'has_more_path',
      'page_body_path',
      'offset_body_path',
      'limit_body_path',
      'stop_after_empty_page',
      'type',
    ];
    const strange = [...map.entries.keys()].find((key) => !known.includes(key));
    if (strange !== undefined && type !== 'auto')
      throw new Untaken(`“${strange}” of the paginator “${this.#type}”`);
  }

  path(key: string, usual: string | undefined): string | undefined {
    const value = this.#map.get(key);
    if (value === undefined) return usual;
    return value === null || value === '' ? undefined : onePathOf(value, key);
  }

  text(key: string): string | undefined {
    const value = this.#map.get(key);
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'string') return value;
    throw new Untaken(`“${key}” of the paginator that is no text`, value);
  }

  number(key: string): number | undefined {
    const value = this.#map.get(key);
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'number') return value;
    throw new Untaken(
      `“${key}” of the paginator that is no number`,
      value instanceof Code ? value : undefined,
    );
  }

  flag(key: string, usual: boolean): boolean {
    const value = this.#map.get(key);
    if (value === undefined) return usual;
    if (typeof value === 'boolean') return value;
    if (value === null) return false;
    throw new Untaken(`“${key}” of the paginator that is neither True nor False`, value);
  }

  /** Returns a place in the query: its name alone if there are parameters anyway. */
  query(name: string): TranslatedValue {
    return this.#isGet ? name : { query: name };
  }

  /** Returns a place in the query, or in the body. */
  place(param: string, body: string, usual: string): TranslatedValue {
    const inBody = this.text(body);
    if (inBody !== undefined && inBody !== '') return { body: inBody };
    return this.query(this.text(param) ?? usual);
  }
}

const TYPES: Readonly<Record<string, Build>> = {
  single_page: () => ({ pagination: { method: 'none' }, followsAddress: false }),
  json_link: (options) => ({
    pagination: {
      method: 'response.url',
      urlKey: options.path('next_url_path', 'next') ?? 'next',
      relativeTo: 'page',
    },
    followsAddress: true,
  }),
  json_response: (options, findings) =>
    TYPES['json_link']?.(options, findings) ?? { pagination: { method: 'none' }, followsAddress: false },
  header_link: (options) => ({
    // its relation is compared there by its letters
    pagination: { method: 'link', rel: options.text('links_next_key') ?? 'next', plain: true },
    followsAddress: true,
  }),
  header_cursor: (options) => ({
    pagination: {
      method: 'response.param',
      responseParam: { header: options.text('cursor_key') ?? 'next' },
      queryParam: options.query(options.text('cursor_param') ?? 'cursor'),
      includeParams: true,
    },
    followsAddress: false,
  }),
  cursor: (options) => ({
    pagination: {
      method: 'response.param',
      responseParam: options.path('cursor_path', 'cursors.next') ?? 'cursors.next',
      queryParam: options.place('cursor_param', 'cursor_body_path', 'cursor'),
      includeParams: true,
      // what Python takes for nothing
      endValues: [0],
      ...(options.flag('stop_after_empty_page', false) ? { emptyPage: 'stop' } : {}),
      ...stops(hasMore(options)),
    },
    followsAddress: false,
  }),
  offset: (options, findings) => {
    const limit = options.number('limit');
    if (limit === undefined) throw new Untaken('an offset without a limit');
    const offset = options.number('offset') ?? 0;
    const offsetParam = options.place('offset_param', 'offset_body_path', 'offset');
    const byRows = options.flag('stop_after_empty_page', true);
    findings.otherRows(
      byRows
        ? 'The same rows where the API gives as many as are asked for. The library goes on by the limit: where pages have fewer or more rows than that, it leaves some out, or writes them twice; here the next page begins behind the rows that came, so that rows come twice where the API takes some out of a page that it has counted. A page that comes again ends it here, and is written again there.'
        : 'Goes on by the limit, as the library does: where the API gives fewer rows than that, some are left out. A page that comes again ends it here, and is written again there.',
    );
    const next = call('add', { request: offsetParam }, byRows ? { answer: 'rows' } : limit);
    return {
      pagination: {
        method: 'offset',
        limit,
        offsetParam,
        limitParam: options.place('limit_param', 'limit_body_path', 'limit'),
        // a page with fewer rows than were asked for is not the last one there
        ...(byRows ? { advance: 'rows' } : {}),
        ...(offset === 0 ? {} : { firstOffset: offset }),
        ...emptyPage(options),
        ...stops(
          atLeast(next, options.path('total_path', 'total')),
          atMost(next, options.number('maximum_offset')),
          hasMore(options),
        ),
      },
      followsAddress: false,
      signs: signsOf(options),
    };
  },
  page_number: (options, findings) => {
    const maximum = options.number('maximum_page');
    if (maximum !== undefined)
      findings.otherRows(
        'The same rows where the API has no rows behind its last page. Where it gives that page again, it ends here, and the library asks until “maximum_page” and writes it again.',
      );
    const base = options.number('base_page') ?? 0;
    const first = options.number('page') ?? base;
    if (first === 0)
      findings.otherRows(
        'The same rows where the API counts its pages from 0. Where it counts from 1 and takes 0 for the first one, the library writes that page twice; here it is written once. With a number of pages in the answer both leave out the last page then: say base_page=1 in the source.',
      );
    const pageParam = options.place('page_param', 'page_body_path', 'page');
    // the next page is page + 1, and the last one total + base - 1
    const next = base === 1 ? { request: pageParam } : call('add', { request: pageParam }, 1 - base);
    const following = call('add', { request: pageParam }, 1);
    return {
      pagination: {
        method: 'pagenum',
        firstPage: first,
        ...(first === 0 ? { firstMayRepeat: true } : {}),
        pageParam,
        ...emptyPage(options),
        ...stops(
          atLeast(next, options.path('total_path', 'total')),
          atMost(following, maximum),
          hasMore(options),
        ),
      },
      followsAddress: false,
      signs: signsOf(options),
    };
  },
  auto: (_options, findings) => {
    findings.otherRows(
      'Guessed how pages follow: no paginator is named, so that the library looks for one in the first answer. Here links to a next page are followed, and nothing else: other signs, such as a number of pages, are told by the run. Name “paginator” in the source.',
    );
    const isAddress = '^((?:https?:/)?/.*)$';
    const paths = [
      'next',
      'next.href',
      'next.url',
      'links.next',
      'links.next.href',
      '_links.next.href',
      '_links.next',
      'meta.next',
      'pagination.next',
      'paging.next',
      'next_page',
      'next_url',
      'next_page_url',
      'nextPageUrl',
      'nextUrl',
      'nextLink',
      'next_link',
      'info.next',
      'metadata.next',
      'meta.pagination.next',
      'pagination.next_url',
    ];
    return {
      pagination: {
        method: 'response.url',
        urlKey: { firstOf: [{ link: 'next' }, ...paths.map((path) => ({ path, match: isAddress }))] },
        relativeTo: 'page',
      },
      followsAddress: true,
    };
  },
};

function signsOf(options: Options): readonly string[] {
  return [options.path('total_path', 'total'), options.path('has_more_path', undefined)].filter(
    (path) => path !== undefined,
  );
}

function emptyPage(options: Options): Map {
  return options.flag('stop_after_empty_page', true) ? { emptyPage: 'stop' } : { emptyPage: 'goOn' };
}

function stops(...conditions: readonly (TranslatedValue | undefined)[]): Map {
  const all = conditions.filter((condition) => condition !== undefined);
  const [only] = all;
  if (only === undefined) return {};
  return { stopWhen: all.length === 1 ? only : all };
}

function atLeast(value: TranslatedValue, path: string | undefined): TranslatedValue | undefined {
  return path === undefined ? undefined : { value, is: 'atLeast', than: { path } };
}

function atMost(value: TranslatedValue, maximum: number | undefined): TranslatedValue | undefined {
  return maximum === undefined ? undefined : { value, is: 'atLeast', than: maximum };
}

/** Returns the condition for the end of the pages, in which the texts count as false that Python code treats so. */
function hasMore(options: Options): TranslatedValue | undefined {
  const path = options.path('has_more_path', undefined);
  if (path === undefined) return undefined;
  return {
    value: path,
    is: 'in',
    than: ['false', 'False', 'FALSE', 'no', 'No', 'n', 'f', '0', 'off', false],
  };
}
