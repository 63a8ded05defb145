import { get, type ManifestNode } from '../airbyte/node.ts';
import { plainJsonPath } from './json-path.ts';
import type { TapStream } from './tap-stream.ts';

type Node = Readonly<Record<string, unknown>>;

/** Pagination of a stream of the tap. */
export interface TapPagination {
  readonly pagination: Node;
  /** Parameters of every request. */
  readonly params: Readonly<Record<string, string>>;
  /** The way that the tap puts together the parameters of a request. */
  readonly style: string;
}

/** Values that Python takes for nothing. */
const NOTHING = [0];

/** Reads how pages follow: the paginator finds the next token, the style puts it into the request. */
export function readTapPagination(stream: TapStream): TapPagination {
  const { config, at, reasons } = stream;
  const paginator = textOf(get(config, 'pagination_request_style')) ?? 'default';
  const style = styleOf(textOf(get(config, 'pagination_response_style')) ?? 'default');
  const size = sizeOf(stream, paginator);
  const build = PAGINATORS[paginator];
  const param = textOf(get(config, 'pagination_next_page_param')) ?? (style === 'offset' ? 'offset' : 'page');
  const tokenPath = textOf(get(config, 'next_page_token_path'));
  const refuse = (message: string): Node => {
    reasons.push({ path: `${at}pagination_request_style`, message, template: `${paginator}, ${style}` });
    return { method: 'none' };
  };
  if (build === undefined)
    return { pagination: refuse('This paginator has no counterpart'), params: {}, style };
  const pagination = build({ stream, style, size, param, tokenPath, refuse });
  return { pagination, params: sizeParam(stream, style, size), style };
}

interface PaginatorParts {
  readonly stream: TapStream;
  readonly style: string;
  readonly size: number | undefined;
  /** Parameter that gets the token. */
  readonly param: string;
  readonly tokenPath: string | undefined;
  /** Adds a reason, and gives no pagination. */
  readonly refuse: (message: string) => Node;
}

type Build = (parts: PaginatorParts) => Node;

const byPath: Build = ({ style, param, tokenPath = '$.next_page', stream, refuse }) => {
  const at = plainJsonPath(tokenPath);
  const path = at === undefined || at.isList ? tokenPath : at.dataField;
  if (style === 'hateoas_body') {
    if (stream.basePath !== '/' && stream.basePath !== '')
      return refuse(
        'The tap puts the path of the next address behind that of “api_url”, which has one of its own',
      );
    return { method: 'response.url', urlKey: path, includeParams: true };
  }
  if (style === 'header_link') return refuse('A token that is read as parameters has no counterpart');
  return {
    method: 'response.param',
    responseParam: path,
    queryParam: param,
    includeParams: true,
    endValues: NOTHING,
  };
};

const byOffset =
  (isSimple: boolean): Build =>
  ({ style, size, param, stream: { setting, config, notes }, tokenPath, refuse }) => {
    if (style === 'header_link' || style === 'hateoas_body')
      return refuse('An offset that is read as an address has no counterpart');
    if (size === undefined && isSimple) return refuse('The offset needs a “pagination_page_size”');
    const limit = size ?? 25;
    const first = numberOf(get(config, 'pagination_initial_offset')) ?? 1;
    const counted = {
      method: 'offset',
      limit,
      limitParam: false,
      offsetParam: param,
      ...(first === 0 ? { firstPageParams: false } : { firstOffset: first }),
    };
    if (isSimple) {
      const records = textOf(setting('offset_records_jsonpath'));
      const rows = textOf(setting('records_path')) ?? '$[*]';
      const isOfRows = records === undefined ? listOf(rows) === '$' : records === listOf(rows);
      return isOfRows
        ? counted
        : refuse('The list whose length ends the pages is another than that of the rows');
    }
    const path = tokenPath === undefined ? 'pagination' : plainJsonPath(tokenPath)?.dataField;
    const total = textOf(get(config, 'pagination_total_limit_param')) ?? 'total';
    if (path === undefined) return refuse('The place of the totals is no plain path');
    notes.push(
      'Where the API gives fewer rows than it is asked for, the tap leaves out those between its pages; here they come.',
    );
    const inside = (name: string): Node => ({ path: path === '' ? name : `${path}.${name}` });
    return {
      ...counted,
      advance: 'rows',
      // the tap goes on by the page size, and asks while what was read is not more than the total
      stopWhen: [
        { value: inside('offset'), is: 'absent' },
        { value: inside('limit'), is: 'absent' },
        {
          value: {
            function: 'add',
            args: [{ response: inside('offset')['path'] }, { response: inside('limit')['path'] }],
          },
          is: 'above',
          than: inside(total),
        },
      ],
    };
  };

const BY_TOTAL = byOffset(false);

const PAGINATORS: Readonly<Record<string, Build>> = {
  default: byPath,
  jsonpath_paginator: byPath,
  simple_header_paginator: (parts) =>
    parts.tokenPath !== undefined
      ? byPath(parts)
      : parts.style === 'page' || parts.style === 'offset'
        ? {
            method: 'response.param',
            responseParam: { header: 'X-Next-Page' },
            queryParam: parts.param,
            includeParams: true,
          }
        : parts.refuse('A header that is read as an address has no counterpart'),
  restapi_header_link_paginator: ({ style, refuse, stream }) => {
    const { config } = stream;
    if (style !== 'header_link') return refuse('The parameters of a link go into one parameter');
    if (get(config, 'pagination_results_limit') !== undefined)
      return refuse('“pagination_results_limit” has no counterpart');
    stream.notes.push(
      'With newer versions of its SDK the tap sends the link as one parameter, and gets other pages: here the link is followed.',
    );
    return { method: 'link', rel: 'next' };
  },
  single_page_paginator: () => ({ method: 'none' }),
  page_number_paginator: ({ style, param, tokenPath, stream: { config }, refuse }) => {
    if (style !== 'page' && style !== 'offset')
      return refuse('A page number that is read as an address has no counterpart');
    const at = tokenPath === undefined ? 'hasMore' : plainJsonPath(tokenPath)?.dataField;
    if (at === undefined) return refuse('The flag for more pages is at no plain path');
    const first = numberOf(get(config, 'pagination_initial_offset')) ?? 1;
    return {
      method: 'pagenum',
      firstPage: first,
      pageParam: param,
      limitParam: false,
      // 0 is nothing to the tap, which leaves it out
      ...(first === 0 ? { firstPageParams: false } : {}),
      stopWhen: [
        { value: at, is: 'empty' },
        { value: at, is: 'in', than: [false, 0] },
      ],
    };
  },
  simple_offset_paginator: byOffset(true),
  offset_paginator: BY_TOTAL,
  style1: BY_TOTAL,
};

/** Returns the path of a list without what takes its items. */
function listOf(path: string): string {
  return path.replace(/\.?\[\*\]$/, '');
}

function styleOf(style: string): string {
  if (style === 'style1') return 'offset';
  return ['offset', 'header_link', 'hateoas_body'].includes(style) ? style : 'page';
}

/** Returns the page size: one of the paginators takes it from the parameters of the stream, and has a default. */
function sizeOf({ config, params }: TapStream, paginator: string): number | undefined {
  const size = numberOf(get(config, 'pagination_page_size'));
  if (PAGINATORS[paginator] !== BY_TOTAL || (size ?? 0) !== 0) return size;
  return Number(params[textOf(get(config, 'pagination_limit_per_page_param')) ?? 'limit'] ?? 25);
}

/** Returns the parameter of the page size, which only some of the styles send. */
function sizeParam(
  { config, params }: TapStream,
  style: string,
  size: number | undefined,
): Readonly<Record<string, string>> {
  const name = textOf(get(config, 'pagination_limit_per_page_param'));
  if (style === 'offset') return size === undefined ? {} : { [name ?? 'limit']: String(size) };
  if (style === 'header_link') {
    // without a size, the tap takes that of the parameters
    const own = Number(params[name ?? 'per_page'] ?? 25);
    return { [name ?? 'per_page']: String(size === undefined || size === 0 ? own : size) };
  }
  if (style === 'hateoas_body' && size !== undefined && name !== undefined) return { [name]: String(size) };
  return {};
}

function textOf(value: ManifestNode | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function numberOf(value: ManifestNode | undefined): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) ? number : undefined;
}
