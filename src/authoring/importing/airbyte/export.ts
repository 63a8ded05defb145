import { TemplateError } from './jinja/ast.ts';
import { wholeEndpoint } from './address.ts';
import type { ManifestComponent } from './component.ts';
import { readFormat } from './format.ts';
import { isMap, isSequence, shown, type ManifestNode } from './node.ts';
import { dataPath } from './records.ts';
import { readRequest, type RequestDraft } from './request.ts';
import { known, type TemplateScope } from './scope.ts';
import { pathText, type TranslatedJson, type Reference } from './translate/position.ts';

export interface ExportDraft {
  readonly export: Readonly<Record<string, TranslatedJson>>;
  readonly format: Readonly<Record<string, TranslatedJson>>;
  readonly dataField: TranslatedJson;
}

/** An address that is nothing but what was extracted. */
const TARGET: TranslatedJson = { polled: 'download_target' };

/** Reads the rest of an `AsyncRetriever`: the request that creates is that of the job itself. */
export function readExport(
  retriever: ManifestComponent,
  scope: TemplateScope,
  created: Pick<RequestDraft, 'headers' | 'address'>,
): ExportDraft | undefined {
  const { findings } = scope;
  for (const key of ['abort_requester', 'delete_requester']) {
    if (retriever.get(key) !== undefined)
      findings.note(`An export is left as it is: ${key} is not taken over.`);
  }
  const paginator = retriever.child('download_paginator');
  if (paginator !== undefined && paginator.type !== 'NoPagination')
    findings.not(paginator.at, 'No counterpart: pages of a file');
  return findings.attempt(retriever.at, undefined, () => {
    const inner: TemplateScope = { ...scope, extra: (name, keys) => extra(name, keys, created) };
    const poll = pollOf(retriever, inner, created);
    const target = retriever.child('download_target_requester');
    const download = downloadOf(retriever, inner, created);
    return {
      export: {
        poll,
        ...(target === undefined ? {} : { address: requestOf(readRequest(target, inner), created) }),
        download,
      },
      ...fileOf(retriever, scope),
    };
  });
}

/** Resolves the names that the answers of an export have in templates. */
function extra(
  name: string,
  keys: readonly (string | number)[],
  created: Pick<RequestDraft, 'headers' | 'address'>,
): Reference | undefined {
  if (name === 'creation_response' && (keys[0] === 'request' || keys[0] === 'headers'))
    return headerOfCreation(keys, created);
  if (name === 'creation_response') return { out: { created: pathText(keys) } };
  if (name === 'polling_response') return { out: { polled: pathText(keys) } };
  if (name === 'download_target' || name === 'url') return { out: TARGET, type: 'text' };
  if (name === 'stream_slice' || name === 'stream_partition') {
    const [first, ...rest] = keys[0] === 'extra_fields' ? keys.slice(1) : keys;
    return typeof first === 'string' && first !== name ? extra(first, rest, created) : undefined;
  }
  return undefined;
}

/** Returns a header that the request for the export was sent with. */
function headerOfCreation(
  [of, part, name]: readonly (string | number)[],
  created: Pick<RequestDraft, 'headers' | 'address'>,
): Reference {
  const wanted = String(name).toLowerCase();
  const found = Object.entries(created.headers).find(([header]) => header.toLowerCase() === wanted);
  if (of !== 'request' || part !== 'headers' || found === undefined)
    throw new TemplateError('a part of the request for an export, or a header of its answer');
  return { out: found[1] };
}

function pollOf(
  retriever: ManifestComponent,
  scope: TemplateScope,
  created: Pick<RequestDraft, 'address'>,
): Readonly<Record<string, TranslatedJson>> {
  const requester = retriever.child('polling_requester');
  const extractor = retriever.child('status_extractor');
  const mapping = retriever.child('status_mapping');
  if (requester === undefined || extractor === undefined || mapping === undefined)
    throw new TemplateError('an export that is not waited for');
  if (extractor.className !== undefined)
    throw new TemplateError(`a status that Python code finds (${extractor.className})`);
  const status = pathText(extractor.keys('field_path'));
  const words = (...keys: readonly string[]): readonly ManifestNode[] =>
    keys.flatMap((key) => {
      const value = mapping.get(key);
      return isSequence(value) ? value : [];
    });
  const failed = words('failed', 'timeout');
  const skipped = words('skipped');
  const deadline = retriever.get('polling_job_timeout');
  const minutes = deadline === undefined ? 15 : Number(known(deadline, retriever, scope).value);
  return {
    ...requestOf(readRequest(requester, scope), created),
    until: { value: status, is: 'in', than: words('completed') },
    ...(failed.length === 0 ? {} : { failWhen: { value: status, is: 'in', than: failed } }),
    ...(skipped.length === 0 ? {} : { emptyWhen: { value: status, is: 'in', than: skipped } }),
    deadline: `${Number.isFinite(minutes) && minutes > 0 ? minutes : 15} minutes`,
  };
}

function downloadOf(
  retriever: ManifestComponent,
  scope: TemplateScope,
  created: Pick<RequestDraft, 'address'>,
): Readonly<Record<string, TranslatedJson>> {
  const requester = retriever.child('download_requester');
  if (requester === undefined) throw new TemplateError('an export without a download');
  const request = readRequest(requester, scope);
  const isTarget = JSON.stringify(request.address).includes(JSON.stringify(TARGET));
  if (!isTarget) return requestOf(request, created);
  const extractor = retriever.child('download_target_extractor');
  if (extractor === undefined || extractor.className !== undefined)
    throw new TemplateError('an address of a file that is not said');
  const isAlone = shown(request.address.endpoint) === shown(TARGET);
  if (!isAlone || request.method !== 'GET' || Object.keys(request.query).length > 0)
    throw new TemplateError('a file whose address is put together');
  const from = dataPath(extractor.keys('field_path').map(String));
  return { from, ...(Object.keys(request.headers).length === 0 ? {} : { headers: request.headers }) };
}

/** Returns a request for an export, which is no job itself. */
function requestOf(
  { address, method, query, headers, body, bodyFormat, tokens }: RequestDraft,
  created: Pick<RequestDraft, 'address'>,
): Readonly<Record<string, TranslatedJson>> {
  if (tokens.length > 0) throw new TemplateError('a token of pages in a request of an export');
  const isHere = shown(address.baseUrl) === shown(created.address.baseUrl);
  const endpoint =
    isHere && typeof address.baseUrl !== 'string' ? address.endpoint : wholeEndpoint(address, []);
  return {
    endpoint,
    ...(method === 'GET' ? {} : { method }),
    ...(Object.keys(query).length === 0 ? {} : method === 'GET' ? { params: query } : { query }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
    ...(body === undefined || bodyFormat === undefined ? {} : { bodyFormat }),
  };
}

/** Reads the format of the file, and the path of its rows. */
function fileOf(
  retriever: ManifestComponent,
  scope: TemplateScope,
): Pick<ExportDraft, 'format' | 'dataField'> {
  const extractor = retriever.child('download_extractor');
  if (extractor?.className !== undefined) throw new TemplateError(`Python code: ${extractor.className}`);
  const decoder = readFormat(retriever, scope, 'download_decoder');
  if (extractor === undefined || extractor.type === 'ResponseToFileExtractor')
    return {
      format: isMap(decoder) && decoder['format'] !== undefined ? decoder : { format: 'csv' },
      dataField: '.',
    };
  if (extractor.type !== 'DpathExtractor') throw new TemplateError(`the extractor ${extractor.type}`);
  return { format: decoder, dataField: dataPath(extractor.keys('field_path').map(String)) };
}
