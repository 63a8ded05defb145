import type { Contexts } from '../shared/evaluate.ts';
import type { JobRequest } from '../shared/message.ts';
import {
  entriesOf,
  getKey,
  isObject,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import type { PageFacts, RowSteps } from '../records/steps/index.ts';

/** A page as it came, beside its body. */
export interface SeenFacts {
  readonly now: number;
  readonly status: number;
  /** Redacted. */
  readonly url: string;
  readonly page: number;
  readonly rows: number;
  readonly bytes: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly request: JobRequest;
  readonly contexts: () => Contexts;
}

/** These are the same for a whole run, and need not be kept with each page. */
const COMMON = new Set(['attr', 'time']);

/**
 * Returns the facts besides the body that the steps of a job may use, as JSON. A page that is read a second time has
 * nothing else, so that its rows come out the same. Only facts that the steps name are in it.
 */
export function keepFacts(steps: RowSteps, seen: SeenFacts): AnyObject {
  const { now, status, url, page, rows, bytes, headers, request } = seen;
  const { names, needs } = steps;
  const kept = needs.headers.flatMap((name) =>
    headers[name] === undefined ? [] : [[name, headers[name]] as const],
  );
  const isContextNamed = ['parent', 'placeholder', 'state', 'window'].some((name) => names.has(name));
  const contexts = isContextNamed ? entriesOf(objectOf(Object.entries(seen.contexts()))) : [];
  return objectOf([
    ['now', now],
    ...(names.has('answer') || names.has('link') || names.has('status')
      ? [['answer', { status, url, page, rows, bytes }] as const]
      : []),
    ...(kept.length > 0 ? [['headers', objectOf(kept)] as const] : []),
    // a request is JSON by its definition
    ...(names.has('request')
      ? [['request', objectOf(Object.entries(request) as [string, Json][])] as const]
      : []),
    ['contexts', objectOf(contexts.filter(([name]) => names.has(name) && !COMMON.has(name)))],
  ]);
}

/** Restores the facts of a page from the kept ones. */
export function factsOf(kept: AnyObject, response: () => Json, common: Contexts): PageFacts {
  const answer = mapIn(kept, 'answer');
  const headers = entriesOf(mapIn(kept, 'headers')).map(([name, value]) => [name, toText(value)] as const);
  const own = entriesOf(mapIn(kept, 'contexts')).map(
    ([name, values]) => [name, isObject(values) ? values : {}] as const,
  );
  const fact = (name: string): Json => getKey(answer, name) ?? null;
  return {
    now: Number(getKey(kept, 'now') ?? 0),
    response,
    headers: Object.fromEntries(headers),
    answer: {
      status: fact('status'),
      url: fact('url'),
      page: fact('page'),
      rows: fact('rows'),
      bytes: fact('bytes'),
      read: null,
    },
    // what was kept is what a request was made of
    request: Object.fromEntries(entriesOf(mapIn(kept, 'request'))) as unknown as JobRequest,
    contexts: { ...common, ...Object.fromEntries(own) },
  };
}

function mapIn(object: AnyObject, key: string): AnyObject {
  const value = getKey(object, key);
  return isObject(value) ? value : objectOf([]);
}
