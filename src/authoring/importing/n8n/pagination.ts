import { get, isMap, isSequence, shown, type ManifestNode } from '../airbyte/node.ts';
import { codeOf, readCompletion, readPageNumber, readSource, UnknownExpression } from './expressions.ts';
import type { NodeReading } from './node-reading.ts';

type Node = Readonly<Record<string, unknown>>;

/** Place in the request by the word of the node. */
const PLACES: Readonly<Record<string, string>> = { qs: 'query', headers: 'header', body: 'body' };

/**
 * Reads how the pages of a node follow.
 *
 * @param rows path of the rows in an answer that is an object
 * @returns keys of the job
 */
export function readNodePagination(
  value: ManifestNode | undefined,
  reading: NodeReading,
  rows: string | undefined,
): Node {
  const mode = get(value, 'paginationMode') ?? 'updateAParameterInEachRequest';
  if (!isMap(value) || mode === 'off') return { pagination: { method: 'none' } };
  const at = 'options.pagination.pagination';
  const not = (key: string, message: string, template?: unknown): void =>
    reading.not(`${at}.${key}`, message, typeof template === 'string' ? template : undefined);
  const way = mode === 'responseContainsNextURL' ? nextUrl(value, not) : parameter(value, reading, not);
  const end = endOf(value, rows, reading, not);
  const most = get(value, 'limitPagesFetched') === true ? get(value, 'maxRequests') : undefined;
  const pages = typeof most === 'number' ? Math.min(most, end.pages ?? most) : end.pages;
  return {
    pagination: {
      ...way,
      ...(end.stopWhen.length === 0 ? {} : { stopWhen: end.stopWhen }),
      ...(pages === undefined ? {} : { forceStop: { pages } }),
    },
    ...(end.reactions === undefined ? {} : { reactions: end.reactions }),
  };
}

type Not = (key: string, message: string, template?: unknown) => void;

function nextUrl(value: ManifestNode, not: Not): Node {
  const code = codeOf(get(value, 'nextURL'));
  const source = code === undefined ? undefined : readSource(code);
  if (source !== undefined)
    return { method: 'response.url', urlKey: source['path'] ?? source, includeParams: true };
  not('nextURL', 'The expression is no place of the answer', get(value, 'nextURL'));
  return { method: 'none' };
}

function parameter(value: ManifestNode, reading: NodeReading, not: Not): Node {
  const list = get(get(value, 'parameters'), 'parameters');
  const all = isSequence(list) ? list : [];
  const [only] = all;
  if (only === undefined || all.length > 1) {
    not(
      'parameters',
      all.length > 1
        ? 'Several parameters that change from page to page'
        : 'No parameter changes from page to page',
    );
    return { method: 'none' };
  }
  const [name, type] = [get(only, 'name'), get(only, 'type') ?? 'qs'];
  const code = codeOf(get(only, 'value')) ?? '';
  const place = { [PLACES[shown(type)] ?? 'query']: name };
  const number = readPageNumber(code);
  if (number !== undefined) {
    const { first, step } = number;
    if (step !== 1)
      reading.notes.push(
        `A page with fewer rows than ${step} is the last one here; n8n asks on until its own condition holds.`,
      );
    return step === 1
      ? { method: 'pagenum', firstPage: first, pageParam: place, limitParam: false }
      : {
          method: 'offset',
          limit: step,
          limitParam: false,
          offsetParam: place,
          ...(first === 0 ? {} : { firstOffset: first }),
        };
  }
  const source = readSource(code);
  if (source !== undefined)
    return {
      method: 'response.param',
      responseParam: source['path'] ?? source,
      queryParam: place,
      includeParams: true,
    };
  not(
    'parameters.parameters[0].value',
    'The expression is neither a place of the answer nor a number of pages',
    get(only, 'value'),
  );
  return { method: 'none' };
}

interface PagesEnd {
  readonly stopWhen: readonly Node[];
  readonly pages?: number;
  readonly reactions?: readonly Node[];
}

function endOf(value: ManifestNode, rows: string | undefined, reading: NodeReading, not: Not): PagesEnd {
  switch (get(value, 'paginationCompleteWhen') ?? 'responseIsEmpty') {
    case 'responseIsEmpty':
      if (rows !== undefined)
        reading.notes.push(
          'n8n ends at an empty answer, which an object never is; here the first page without rows ends it.',
        );
      return { stopWhen: [] };
    case 'receiveSpecificStatusCodes': {
      const codes = shown(get(value, 'statusCodesWhenComplete') ?? '')
        .split(',')
        .map((code) => Number.parseInt(code.trim(), 10))
        .filter((code) => Number.isInteger(code));
      reading.notes.push(
        'n8n gives the body of the answer that ends the pages as an item, too; here it is no row.',
      );
      return codes.length === 0
        ? { stopWhen: [] }
        : { stopWhen: [], reactions: [{ when: { status: codes }, do: 'empty' }] };
    }
    default: {
      const code = codeOf(get(value, 'completeExpression'));
      try {
        return code === undefined ? unknown(value, not) : readCompletion(code);
      } catch (error) {
        if (!(error instanceof UnknownExpression)) throw error;
        return unknown(value, not);
      }
    }
  }
}

function unknown(value: ManifestNode, not: Not): PagesEnd {
  not(
    'completeExpression',
    'The expression that ends the pages has no counterpart',
    get(value, 'completeExpression'),
  );
  return { stopWhen: [] };
}
