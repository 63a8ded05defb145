import { partsOf, wholeEndpoint } from './address.ts';
import { bodyOfKey, readAuthentication } from './authentication.ts';
import { sameLogin, trustedHost } from './below-parent.ts';
import type { ManifestComponent } from './component.ts';
import { putInto, type JobDraft } from './draft.ts';
import { liftEncoded } from './encoded.ts';
import { readExport } from './export.ts';
import { inEachPart, readFormat } from './format.ts';
import type { IncrementalDraft } from './incremental.ts';
import { isMap, shown, type ManifestNode } from './node.ts';
import { readPagination } from './pagination.ts';
import { addBelow, freeName, keyColumns, type JobTree, type TranslatedJob } from './parent-rows.ts';
import type { ListPartition, ParentPartition } from './partitions.ts';
import { readReactions } from './reactions.ts';
import { readRecords, type RecordsDraft } from './records.ts';
import { readRequest } from './request.ts';
import { fieldSource } from './scope.ts';
import { withoutUnsent, withoutWhole } from './slices.ts';
import type { StreamParts } from './stream-parts.ts';
import { withWindows } from './stream-windows.ts';
import { call } from './translate/out.ts';
import { pathText, type Reference, type TranslatedJson } from './translate/position.ts';

/** Puts the job of a stream together, below its parent where it has one. */
export function readJob(
  stream: StreamParts,
  parts: {
    readonly requester: ManifestComponent;
    readonly job: TranslatedJob;
    readonly above: JobTree | undefined;
    readonly parent: ParentPartition | undefined;
    readonly lists: readonly ListPartition[];
    readonly incremental: IncrementalDraft;
    readonly names: readonly string[];
  },
): JobTree {
  const { requester, job, above, parent, lists, incremental, names } = parts;
  const { scope, retriever, slots } = stream;
  const request = readRequest(requester, scope);
  const paging = readPagination(retriever.child('paginator'), request.tokens, scope);
  const draft: JobDraft = {
    query: { ...request.query },
    headers: { ...request.headers },
    body: request.body,
    bodyFormat: request.bodyFormat,
  };
  for (const { place, value } of paging.constants) putInto(draft, place, value, paging.isForm);
  if (paging.isForm) draft.bodyFormat ??= 'form';
  for (const { place, value, isForm } of incremental.options) putInto(draft, place, value, isForm);
  if (incremental.isForm === true) draft.bodyFormat ??= 'form';
  const keyFormat = bodyOfKey(requester.child('authenticator'), scope);
  if (keyFormat !== undefined) {
    draft.body ??= {};
    draft.bodyFormat ??= keyFormat;
  }
  const ofParent = parent?.others ?? [parent?.option].filter((option) => option !== undefined);
  for (const option of ofParent)
    putInto(draft, option.place, sentOf(slots.get(parent?.name ?? '')), option.isForm);
  for (const { name, option } of lists)
    if (option !== undefined) putInto(draft, option.place, sentOf(slots.get(name)), option.isForm);
  const ofSlice = retriever.flag('ignore_stream_slicer_parameters_on_paginated_requests')
    ? [
        ...incremental.options,
        ...ofParent,
        ...lists.map(({ option }) => option).filter((option) => option !== undefined),
      ]
    : [];
  const pagination = firstPageAlone(stream, paging.pagination, [
    ...ofSlice,
    ...request.ofFirst.filter((name) => name in draft.query).map((name) => ({ place: { query: name } })),
  ]);
  const { baseUrl } = request.address;
  // a row has one base: a child with another one names the whole address
  const isElsewhere = above !== undefined && JSON.stringify(above.baseUrl) !== JSON.stringify(baseUrl);
  const address = isElsewhere ? wholeEndpoint(request.address, names) : request.address.endpoint;
  const endpoint = withNameless(stream, address, draft, pagination);
  if (shown(pagination?.['method'] ?? '') === 'response.url' && Object.keys(draft.query).length > 0)
    stream.findings.note(
      'A link to the next page that gives a parameter of the stream another value is followed with that of the stream; the other tool sends both.',
    );
  const records = readRecords(stream.stream, retriever.child('record_selector'), scope);
  withFilteredPages(stream, pagination, records);
  const reactions = readReactions(requester.child('error_handler'), scope);
  const name = stream.stream.text('name') ?? '';
  const { cursorField = '' } = incremental;
  Object.assign(job, {
    id: name,
    endpoint,
    ...(request.method === 'GET' ? {} : { method: request.method }),
    ...queryOf(request.method, draft),
    ...(Object.keys(draft.headers).length === 0 ? {} : { headers: draft.headers }),
    ...(draft.body === undefined ? {} : { body: draft.body }),
    ...(draft.bodyFormat === undefined ? {} : { bodyFormat: draft.bodyFormat }),
    dataType: name,
    dataField:
      retriever.child('decoder')?.className === undefined ? records.dataField : inEachPart(records.dataField),
    ...(records.rowsAt === undefined ? {} : { rowsAt: records.rowsAt }),
    ...(records.isXml ? { format: 'xml' } : readFormat(retriever, scope)),
    pagination: pagination ?? { method: 'none' },
    ...endOf(pagination),
    ...whereOf(
      records.where,
      incremental.where?.(
        records.added.get(cursorField)?.out ??
          fieldSource(records.names, [cursorField], 'path') ?? { path: pathText([cursorField]) },
      ),
      someField(stream, records.dataField),
    ),
    ...(Object.keys(records.columns).length === 0 ? {} : { columns: records.columns }),
    ...(records.exclude.length === 0 ? {} : { exclude: records.exclude }),
    ...(records.case === undefined ? {} : { case: records.case }),
    ...(reactions.length === 0 ? {} : { reactions }),
  });
  if (retriever.type === 'AsyncRetriever') {
    const made = readExport(retriever, scope, request);
    if (made !== undefined)
      Object.assign(job, { export: made.export, ...made.format, dataField: made.dataField });
  }
  if (parent !== undefined) withoutWhole(stream, job, parent);
  withoutUnsent(stream, job, lists);
  const taken = [...names];
  liftEncoded(job, (wanted) => {
    const free = freeName(wanted, taken);
    taken.push(free);
    return free;
  });
  const isIncremental = withWindows(stream, job, incremental, records, above?.isIncremental === true);
  const isAdded = isIncremental || above?.isIncremental === true;
  const keys = keyColumns(stream.stream.get('primary_key'));
  // a key without its column ends the run, and a table that is read whole needs none
  const isMade = records.isRenamed && keys.some((key) => key.includes('.'));
  const hasKey = keys.length > 0 && (isAdded || !isMade);
  if (!hasKey && keys.length > 0)
    scope.findings.column(
      `no primary key, as Python code makes the names of its columns: ${keys.join(', ')}`,
    );
  const [, ...others] = above === undefined ? [] : addBelow(above, job);
  const authentication = readAuthentication(requester.child('authenticator'), scope);
  if (above !== undefined) sameLogin(stream, above, authentication);
  const trusted = isElsewhere ? trustedHost(stream, above, endpoint, baseUrl, authentication) : [];
  return {
    roots: above?.roots ?? [job],
    leaf: job,
    others,
    isAlike: above?.isAlike ?? true,
    slots,
    records,
    baseUrl: above?.baseUrl ?? baseUrl,
    authentication: above?.authentication ?? authentication,
    hasLists: request.hasLists || scope.sent.lists || above?.hasLists === true,
    // rows below the new rows of a parent are new ones, too
    isIncremental: isAdded,
    primaryKey: hasKey ? keys : [],
    names: taken,
    trustedHosts: [...new Set([...(above?.trustedHosts ?? []), ...trusted])],
  };
}

/** Returns the value of a slice that an option sends; an empty one is left out. */
function sentOf(slot: Reference | undefined): TranslatedJson {
  if (slot === undefined) return '';
  return slot.mayBeEmpty === true ? call('optional', slot.out) : slot.out;
}

/** Puts a parameter without a name into the address, as `?=20`: everywhere else it would be left out. */
function withNameless(
  parts: StreamParts,
  endpoint: TranslatedJson,
  draft: JobDraft,
  pagination: TranslatedJob | undefined,
): TranslatedJson {
  const { '': value } = draft.query;
  if (value === undefined) return endpoint;
  delete draft.query[''];
  if (pagination?.['method'] === 'response.url' || shown(endpoint).includes('?'))
    parts.findings.not(
      parts.retriever.place('paginator'),
      'No counterpart: a place in the request without a name',
    );
  return typeof endpoint === 'string' && typeof value !== 'object'
    ? `${endpoint}?=${shown(value)}`
    : call('concat', ...partsOf(endpoint), '?=', value);
}

/** Parameters of the slice are sent with the first request alone. */
function firstPageAlone(
  parts: StreamParts,
  pagination: TranslatedJob | undefined,
  options: readonly { readonly place: ManifestNode }[],
): TranslatedJob | undefined {
  if (pagination === undefined || options.length === 0) return pagination;
  const names = options.map(({ place }) => (isMap(place) ? place['query'] : undefined));
  const known = names.filter((name) => typeof name === 'string');
  // parameters of a request with a body are sent with each of its pages
  const isGet = parts.retriever.child('requester')?.text('http_method')?.toUpperCase() !== 'POST';
  if (isGet && pagination['includeParams'] === true && known.length === names.length)
    return { ...pagination, includeParams: { except: known } };
  parts.findings.not(parts.retriever.at, 'No counterpart: parts of the request in the first one alone');
  return pagination;
}

/** Says that a token is no sign of a further page, where the number of rows tells which page is the last one. */
function endOf(pagination: TranslatedJob | undefined): TranslatedJob {
  const { set, urlKey } = pagination ?? {};
  if (!isByRows(pagination)) return {};
  const text = JSON.stringify([set ?? null, urlKey ?? null]);
  const paths = [...text.matchAll(/"response":"([^"\\]+)"/g)].map(([, path = '']) => path);
  const notSigns = [...new Set(paths)].filter((path) => path !== '.');
  return notSigns.length === 0 ? {} : { completeness: { notSigns } };
}

/** Tells if the pages of a token end by the rows that came. */
function isByRows({ stopWhen, emptyPage }: TranslatedJob = {}): boolean {
  return emptyPage === 'stop' || /"(?:answer":"rows|last":)/.test(JSON.stringify(stopWhen ?? null));
}

/**
 * Says that a condition on the rows of a page counts those in the other tool that its filter keeps, and so ends where
 * that keeps few, and that a token of the last row is that of the last one kept. Numbers of pages and offsets count what
 * the API gave.
 */
function withFilteredPages(
  { stream, retriever, findings }: StreamParts,
  pagination: TranslatedJob | undefined,
  { isKept }: RecordsDraft,
): void {
  const isByNumber = ['pagenum', 'offset'].includes(shown(pagination?.['method'] ?? ''));
  const isCounted = isByRows(pagination) && !isByNumber;
  const isAfterRow = JSON.stringify(pagination?.['set'] ?? pagination?.['urlKey'] ?? null).includes(
    '"last":',
  );
  const cursor = stream.child('incremental_sync');
  // a feed is filtered after its pages are counted
  const isFiltered = cursor?.flag('is_client_side_incremental') === true && !cursor.flag('is_data_feed');
  const hasFilter = isKept !== undefined && retriever.child('record_selector')?.has('record_filter') === true;
  if (!isCounted && isAfterRow && (hasFilter || isFiltered))
    findings.moreRows(
      'The next page is asked for after the last row of the page. The other tool asks after the last row that its filter keeps, and ends at a page of which it keeps none.',
    );
  if (isCounted && (hasFilter || isFiltered))
    findings.moreRows(
      'Pages end by the rows that the API gives. The other tool counts those that its filter keeps, ends at a page with fewer of them, and leaves out the rows behind it.',
    );
}

/** Leaves out an answer without a field, as one asked for each slice may be: it is no row in the other tool. */
function someField({ retriever }: StreamParts, dataField: TranslatedJson): TranslatedJson | undefined {
  const isOne = dataField === '.' && retriever.child('paginator') === undefined;
  return isOne ? { value: '.', is: 'notEmpty' } : undefined;
}

function whereOf(...conditions: readonly (TranslatedJson | undefined)[]): TranslatedJob {
  const all = conditions.filter((condition) => condition !== undefined);
  const [only] = all;
  if (only === undefined) return {};
  return { where: all.length === 1 ? only : { all } };
}

function queryOf(method: 'GET' | 'POST', { query, body }: JobDraft): TranslatedJob {
  const isEmpty = Object.keys(query).length === 0;
  if (method === 'GET') return isEmpty ? {} : { params: query };
  // a POST without a body is sent without one
  const paramsIn = body === undefined ? { paramsIn: 'query' } : {};
  return isEmpty ? paramsIn : { query, ...paramsIn };
}
