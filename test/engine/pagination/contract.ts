import { describe, expect, test } from 'vitest';
import type { JobRequest } from '../../../src/engine/shared/message.ts';
import type { Json } from '../../../src/lib/json/index.ts';
import type { Paginator, PaginatorState } from '../../../src/engine/pagination/index.ts';
import { deepFreeze, items, observe, rowsOf, type Answer } from './helpers.ts';

/** A pagination and an API that knows its scheme. */
export interface ContractCase {
  readonly name: string;
  /** A new paginator for a job over the API. */
  readonly paginator: () => Paginator;
  /** Rows in a full page of the API. */
  readonly pageSize: number;
  /** The API over these rows. An unknown address or token is an error of the test. */
  readonly api: (rows: readonly Json[]) => (request: JobRequest) => Answer;
}

/** Tests the contract of every pagination, over an API with 0, 1, n, n+1, 2n and 2n+1 rows. */
export function testPagination({ name, paginator, pageSize: n, api }: ContractCase): void {
  describe(`${name} keeps the contract`, () => {
    test.each([0, 1, n, n + 1, 2 * n, 2 * n + 1])(
      '%i rows come once each, in order, and it ends',
      (count) => {
        const rows = items(count);
        const got = [...walk(paginator(), api(rows))].flatMap(({ answer }) => rowsOf(answer));
        expect(got).toEqual(rows);
      },
    );

    test('the state survives JSON at every step', () => {
      const plain = [...walk(paginator(), api(items(2 * n + 1)))];
      const saved = [
        ...walk(paginator(), api(items(2 * n + 1)), (state) => JSON.parse(JSON.stringify(state)) as Json),
      ];
      expect(saved.map(({ request }) => request)).toEqual(plain.map(({ request }) => request));
    });

    test('a paginator made anew goes on from a state', () => {
      const visited = [...walk(paginator(), api(items(2 * n + 1)))];
      for (const [i, { observation, state }] of visited.entries()) {
        const step = paginator().next(observation, state);
        expect('stop' in step ? undefined : step.request).toEqual(visited[i + 1]?.request);
      }
    });

    test('the same observation and state give the same step, and nothing is changed', () => {
      const one = paginator();
      for (const { observation, state } of walk(one, api(items(2 * n + 1)))) {
        deepFreeze(observation);
        deepFreeze(state);
        expect(one.next(observation, state)).toEqual(one.next(observation, state));
      }
    });

    if (paginator().plan !== undefined) {
      test('a planned request is the one that is made when the job goes on', () => {
        const one = paginator();
        const visited = [...walk(one, api(items(2 * n + 1)))];
        const planned = visited.slice(0, -1).map(({ state }) => one.plan?.(state).request);
        expect(planned).toEqual(visited.slice(1).map(({ request }) => request));
      });
    }
  });
}

interface Visited {
  readonly request: JobRequest;
  readonly answer: Answer;
  readonly observation: ReturnType<typeof observe>;
  readonly state: PaginatorState;
}

function* walk(
  paginator: Paginator,
  answer: (request: JobRequest) => Answer,
  save: (state: PaginatorState) => PaginatorState = (state) => state,
): Generator<Visited> {
  let { request, state } = paginator.first(0);
  for (let page = 1; ; page++) {
    if (page > 50) throw new Error('the pagination does not end');
    state = save(state);
    const got = answer(request);
    const observation = observe(got, paginator.needs, { page, request });
    yield { request, answer: got, observation, state };
    const step = paginator.next(observation, state);
    if ('stop' in step) return;
    ({ request, state } = step);
  }
}
