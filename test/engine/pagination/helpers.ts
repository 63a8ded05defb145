import { digKeys, isList, toJsonText, type AnyObject, type Json } from '../../../src/lib/json/index.ts';
import type { JobRequest } from '../../../src/engine/shared/message.ts';
import {
  createPaginator,
  idRange,
  type Needs,
  type Observation,
  type PaginatedJob,
  type Paginator,
  type PaginatorContext,
} from '../../../src/engine/pagination/index.ts';
import type { View } from '../../../src/engine/language/index.ts';
import { createCaller } from '../../../src/engine/jobs/functions/index.ts';
import { systemEnv } from '../../../src/lib/env.ts';
import { reasonText } from '../../../src/engine/shared/stop-reason.ts';

/** Understands just enough of relative times for these tests. */
const parseTime = (text: string, baseSeconds: number): number | false => {
  const match = /^(\d+) (second|minute|hour)s?$/.exec(text);
  const unit = { second: 1, minute: 60, hour: 3600 }[match?.[2] ?? ''];
  return match?.[1] === undefined || unit === undefined ? false : baseSeconds + Number(match[1]) * unit;
};

const call = createCaller(systemEnv);

export function job(changes: Partial<PaginatedJob> = {}): PaginatedJob {
  return { endpoint: 'users', method: 'GET', params: {}, headers: {}, ...changes };
}

export function paginatorOf(
  options: Json,
  changes: Partial<PaginatedJob> = {},
  context: Partial<PaginatorContext> = {},
): Paginator {
  // Frozen, so that every test also shows that nothing given is changed.
  return createPaginator(deepFreeze(options), deepFreeze(job(changes)), { parseTime, call, ...context });
}

/** Answer of an API in these tests. */
export interface Answer {
  readonly body: Json;
  /** Path of the rows; the body itself by default. */
  readonly dataField?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly status?: number;
  readonly url?: string;
}

export function rowsOf(answer: Answer): readonly Json[] {
  const rows = digKeys(answer.dataField ?? [], answer.body);
  return isList(rows) ? rows : [];
}

/** Context of a page, besides the answer. */
export interface Asked {
  readonly page?: number;
  readonly now?: number;
  readonly request?: JobRequest;
}

/** Sees a page as the loop does: only what the paginator needs of it. */
export function observe(
  answer: Answer,
  needs: Needs,
  { page = 1, now = 0, request = job() }: Asked = {},
): Observation {
  const rows = rowsOf(answer);
  const view = viewOf(answer, rows, page, request);
  const text = toJsonText(answer.body);
  const ids = needs.ids === undefined ? undefined : idRange([rows], needs.ids);
  return {
    page,
    status: answer.status ?? 200,
    url: answer.url ?? 'https://api.example.com/users',
    values: (needs.paths ?? []).map((path) => path.find(answer.body)),
    read: (needs.sources ?? []).map((source) => source.read(view)),
    met: (needs.conditions ?? []).map((condition) =>
      condition.holds(view) ? condition.describe(view) : undefined,
    ),
    headers: Object.fromEntries(
      Object.entries(answer.headers ?? {}).filter(([name]) => needs.headers?.includes(name) === true),
    ),
    rows: rows.length,
    bytes: answer.status === 204 ? 0 : text.length,
    now,
    ...(ids === undefined ? {} : { ids }),
    ...(needs.volume === true ? { volume: text.length } : {}),
  };
}

function viewOf(answer: Answer, rows: readonly Json[], page: number, request: JobRequest): View {
  const facts = {
    status: answer.status ?? 200,
    page,
    rows: rows.length,
    url: answer.url ?? 'https://api.example.com/users',
  };
  return {
    here: (path) => path.find(answer.body),
    response: (path) => path.find(answer.body),
    edge(which, path) {
      const row = rows.at(which === 'first' ? 0 : -1);
      return row === undefined ? undefined : path.find(row);
    },
    header: (name) => answer.headers?.[name],
    answer: (fact) => (fact === 'read' || fact === 'bytes' ? undefined : facts[fact]),
    request,
  };
}

/** `GET users {"page":1}`; with the query behind a `?` where there is one apart from the parameters. */
export function show(request: JobRequest): string {
  const query = request.query === undefined ? '' : ` ?${toJsonText(request.query)}`;
  return `${request.method} ${request.endpoint} ${toJsonText(request.params)}${query}`;
}

export interface Run {
  readonly requests: readonly JobRequest[];
  readonly shown: readonly string[];
  readonly rows: readonly Json[];
  readonly stop: string;
}

/** Answers pages from a list or a function until the paginator stops. */
export function run(
  paginator: Paginator,
  answers: readonly Answer[] | ((request: JobRequest, page: number) => Answer),
  nowOf: (page: number) => number = () => 0,
): Run {
  const requests: JobRequest[] = [];
  const rows: Json[] = [];
  let { request, state } = paginator.first(nowOf(0));
  for (let page = 1; page <= 100; page++) {
    requests.push(request);
    const answer = typeof answers === 'function' ? answers(request, page) : answers[page - 1];
    if (answer === undefined) throw new Error(`no answer for page ${page}: ${show(request)}`);
    rows.push(...rowsOf(answer));
    const observation = observe(answer, paginator.needs, { page, now: nowOf(page), request });
    const step = paginator.next(observation, state);
    if ('stop' in step) return { requests, shown: requests.map(show), rows, stop: reasonText(step.stop) };
    ({ request, state } = step);
  }
  throw new Error('the pagination does not end');
}

/** Rows with ids from 1. */
export function items(count: number, from = 1): readonly AnyObject[] {
  return Array.from({ length: count }, (_, i) => ({ id: from + i }));
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return value;
}
