import { map } from '../../lib/option.ts';
import { PaginationError } from '../../lib/errors.ts';
import {
  equalJson,
  getKey,
  isEmpty,
  isList,
  objectOf,
  toJsonText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { conditionSchema } from '../language/index.ts';
import { conditionAt, mustBeIn } from './language.ts';
import type { FirstStep, MethodContext, Observation, PaginatedJob, Paginator, Step } from './paginator.ts';
import { requestOf } from './request.ts';
import { applied, SET, settersIn, withBlanks } from './setters.ts';
import { invalid, read } from './pagination-settings.ts';
import { stateOf } from './state.ts';

/**
 * Starts again behind the last row, for APIs that give no page beyond some depth.
 *
 * The API answers rows in the order of a time, three pages of them at most:
 *
 *     { "items": [{ "id": 6, "changed": "2026-01-06" }] }
 *
 * Configuration:
 *
 *     { "pagination": { "method": "pagenum", "limit": 2, "restart": {
 *         "when": { "value": { "request": "page" }, "is": "atLeast", "than": 3 },
 *         "set": [{ "from": { "last": "changed" }, "to": "since" }] } } }
 *
 * Requests:
 *
 *     GET /users?page=1&limit=2
 *     GET /users?page=2&limit=2
 *     GET /users?page=3&limit=2
 *     GET /users?since=2026-01-06&page=1&limit=2
 *
 * The job behaves as if it had those parameters. Rows that come again behind the border are dropped by the reader of
 * the pages, which is notified of the restart.
 *
 * @param make the paginator of a job
 */
export function withRestart(
  options: AnyObject,
  job: PaginatedJob,
  context: MethodContext,
  make: (job: PaginatedJob) => Paginator,
): Paginator {
  const node = read.object(options, 'restart', context.at);
  if (node === undefined) return make(job);
  const at = `${context.at}.restart`;
  const inner = { ...context, at };
  const given = getKey(node, 'when');
  if (given === undefined || isEmpty(given))
    throw invalid(
      `${at}.when`,
      '`when` is missing.',
      'Say by a condition which page is the last one before it.',
    );
  const when = conditionAt(given, `${at}.when`, inner);
  const setters = settersIn(node, ['set'], job, inner);
  const [leading] = setters;
  if (leading === undefined)
    throw invalid(
      `${at}.set`,
      '`set` is missing.',
      'Say where it begins: [{"from": {"last": "id"}, "to": "since"}].',
    );
  for (const { to } of setters) mustBeIn(to.place, context.written ?? requestOf(job), to.at);

  const beginning = make({ ...job, ...withBlanks(setters, requestOf(job)) });
  const behind = (values: Json): Paginator =>
    values === null
      ? beginning
      : make({ ...job, ...applied(setters, isList(values) ? values : [], requestOf(job)) });
  const { needs, traits } = beginning;
  const own = { sources: needs.sources?.length ?? 0, conditions: needs.conditions?.length ?? 0 };
  return {
    needs: {
      ...needs,
      sources: [...(needs.sources ?? []), ...setters.map(({ from }) => from)],
      conditions: [...(needs.conditions ?? []), when],
    },
    ...(traits === undefined ? {} : { traits: { ...traits, mayOverlap: true, restarts: true } }),
    first: (now) => packed(beginning.first(now), null),
    next(observation, state): Step {
      const values = stateOf(state, 'behind');
      const reached = restartOf(observation);
      if (reached !== undefined) {
        if (isList(values) && equalJson(values, reached)) throw standstill(leading.from.text, reached, at);
        return { ...packed(behind(reached).first(observation.now), reached), restarts: true };
      }
      const page = {
        ...observation,
        read: observation.read.slice(0, own.sources),
        met: observation.met.slice(0, own.conditions),
      };
      const step = behind(values).next(page, stateOf(state, 'page'));
      return 'stop' in step ? step : packed(step, values);
    },
  };

  function restartOf({ read: seen, met }: Observation): readonly Json[] | undefined {
    if (met[own.conditions] === undefined) return undefined;
    const values = seen.slice(own.sources).map((value) => value ?? null);
    return values[0] === null ? undefined : values;
  }
}

/**
 * Builds a step with the restart state. `behind`: null before the first restart, then the values that the pages begin
 * behind.
 */
function packed({ request, state }: FirstStep, behind: Json): FirstStep {
  return {
    request,
    state: objectOf([
      ['page', state],
      ['behind', behind],
    ]),
  };
}

function standstill(text: string, values: readonly Json[], at: string): PaginationError {
  return new PaginationError(
    'pagination.loop',
    `The job would start again where it did before: ${text} is ${toJsonText(values[0] ?? null)} still.`,
    {
      where: { path: at },
      hint: 'More rows have that value than the API gives at once. Order them by something finer, or begin behind more than one value.',
    },
  );
}

/** JSON Schema of `restart`. */
export const RESTART = map(
  'Start again behind the last row',
  'For APIs that give no page beyond some depth: where `when` holds, the job starts again at its first page, with values of the last row in the request. The rows must come in the order of that value.',
  {
    maxItems: 0,
    required: ['when', 'set'],
    examples: [
      {
        when: { value: { request: 'page' }, is: 'atLeast', than: 300 },
        set: [{ from: { last: 'updated_at' }, to: 'updated_since' }],
      },
    ],
    properties: {
      when: conditionSchema(
        'When',
        'Of the last page before it: a condition, or a list of which any may hold.',
        [{ value: { request: 'page' }, is: 'atLeast', than: 300 }],
      ),
      set: { ...SET, description: 'Where it begins: values of the exchange, each from a source to a place.' },
    },
  },
);
