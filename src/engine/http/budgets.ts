import type { Env } from '../../lib/env.ts';
import { ConfigError } from '../../lib/errors.ts';
import { option } from '../../lib/option.ts';
import { isEmpty, isList, isNumber, isObject, getKey, numberOf, type Json } from '../../lib/json/index.ts';
import { compilePattern, type Pattern } from '../language/index.ts';
import type { Log } from '../../lib/log.ts';
import { checkKeys, kindOf, numericOf } from '../../lib/read-settings.ts';
import type { SendWrapper } from '../shared/message.ts';
import { targetOf } from './send/target.ts';

/** So many requests to a host in any stretch of so much time. */
export interface Budget {
  readonly calls: number;
  readonly perMs: number;
  /** Paths and queries that the budget counts for; all of them by default. */
  readonly path: Pattern | undefined;
  /** In words: `100 calls per 60 seconds`. */
  readonly text: string;
}

/** JSON Schema of `api.budgets`. */
export const BUDGETS = option(
  'Budgets',
  'How many requests a host gets in a stretch of time: what is beyond waits. Retries, redirects and logins count, and several budgets hold at once.',
  {
    type: 'array',
    default: [],
    examples: [[{ calls: 100, per: '60 seconds' }], [{ calls: 10, per: '1 minute', path: '^/reports' }]],
    items: {
      type: 'object',
      required: ['calls', 'per'],
      properties: {
        calls: option('Calls', 'Requests that may start in the time. Required.', {
          type: ['integer', 'string'],
          minimum: 1,
          pattern: '^\\s*\\d+\\s*$',
          examples: [100],
        }),
        per: option(
          'Time',
          'How long the stretch of time is: seconds, or a number with its unit (milliseconds, seconds, minutes, hours, days). Required.',
          { type: ['number', 'string'], examples: ['60 seconds', 60, '1 hour'] },
        ),
        path: option(
          'Paths',
          'A regular expression that is found in the path (with the query) of the requests that count; without it all do.',
          { type: 'string', examples: ['^/v1/reports'] },
        ),
      },
    },
  },
);

/** @throws {ConfigError} naming the key that is wrong */
export function parseBudgets(node: Json | undefined, at = 'parameters.api.budgets'): readonly Budget[] {
  if (isEmpty(node) || node === undefined) return [];
  if (!isList(node)) throw invalid(at, `\`budgets\` is a list, and here is ${kindOf(node)}.`, EXAMPLE);
  return node.map((item, index) => parseBudget(item, `${at}[${index}]`));
}

const EXAMPLE = 'Write [{"calls": 100, "per": "60 seconds"}].';
const KEYS = ['calls', 'per', 'path'];

function parseBudget(node: Json, at: string): Budget {
  if (!isObject(node)) throw invalid(at, `A budget is an object, and here is ${kindOf(node)}.`, EXAMPLE);
  checkKeys(node, KEYS, at, invalid, 'in a budget');
  const calls = numericOf(getKey(node, 'calls'));
  if (calls === undefined || !Number.isSafeInteger(calls) || calls < 1 || calls > MOST_CALLS)
    throw invalid(`${at}.calls`, `\`calls\` must be a whole number from 1 to ${MOST_CALLS}.`);
  const perMs = durationMs(getKey(node, 'per'));
  if (perMs === undefined)
    throw invalid(
      `${at}.per`,
      `\`per\` must be a time above 0, and at most ${LONGEST_DAYS} days.`,
      'Write "60 seconds", "1 minute", "1 hour" or "1 day".',
    );
  const path = getKey(node, 'path');
  if (!isEmpty(path) && typeof path !== 'string')
    throw invalid(`${at}.path`, `\`path\` must be a regular expression, and here is ${kindOf(path)}.`);
  const pattern = typeof path === 'string' && path !== '' ? compilePattern(path, `${at}.path`) : undefined;
  const of = pattern === undefined ? '' : ` for paths with ${pattern.text}`;
  return { calls, perMs, path: pattern, text: `${calls} calls per ${perMs / 1000} seconds${of}` };
}

/** Each takes eight bytes. */
const MOST_CALLS = 1_000_000;
const LONGEST_DAYS = 31;

const UNITS: Readonly<Record<string, number>> = {
  millisecond: 1,
  ms: 1,
  second: 1000,
  sec: 1000,
  s: 1000,
  minute: 60_000,
  min: 60_000,
  hour: 3_600_000,
  h: 3_600_000,
  day: 86_400_000,
  d: 86_400_000,
};

function durationMs(value: Json | undefined): number | undefined {
  const ms = isNumber(value) ? numberOf(value) * 1000 : typeof value === 'string' ? textMs(value) : undefined;
  return ms !== undefined && ms > 0 && ms <= LONGEST_DAYS * 86_400_000 ? ms : undefined;
}

function textMs(text: string): number | undefined {
  const [, count = '1', unit = 's'] = /^(\d+(?:\.\d+)?)?\s*([a-z]+)?$/i.exec(text.trim()) ?? [];
  const word = unit.toLowerCase();
  const ms = UNITS[word] ?? UNITS[word.replace(/s$/, '')];
  return text.trim() === '' || ms === undefined ? undefined : Number(count) * ms;
}

function invalid(at: string, message: string, hint?: string): ConfigError {
  return new ConfigError('config.invalid', message, { where: { path: at }, hint });
}

/**
 * Holds a request back until every budget that it counts for has room for it. In any stretch of the time, wherever it
 * begins, no more requests start than are allowed; so APIs that count by the clock and those that count from the first
 * request are both content.
 *
 * @param accounts shared with other connections
 */
export function keepBudgets(
  budgets: readonly Budget[],
  env: Env,
  log: Log,
  accounts = new Map<string, BudgetAccount>(),
): SendWrapper | undefined {
  if (budgets.length === 0) return undefined;
  const told = new Set<Budget>();
  const accountOf = (origin: string, budget: Budget): BudgetAccount => {
    const key = `${origin} ${budget.text}`;
    let found = accounts.get(key);
    if (found === undefined) accounts.set(key, (found = new BudgetAccount(budget)));
    return found;
  };
  return (next) => async (request, options) => {
    const { origin, path } = targetOf(request.url);
    const meant = budgets.filter((budget) => budget.path?.test(path) ?? true);
    // the same budget twice is one
    const counted = [...new Set(meant.map((budget) => accountOf(origin, budget)))];
    for (;;) {
      options.signal.throwIfAborted();
      const now = env.now();
      const full = counted.reduce<BudgetAccount | undefined>(
        (latest, account) => (latest === undefined || account.freeAt > latest.freeAt ? account : latest),
        undefined,
      );
      if (full === undefined || full.freeAt <= now) {
        for (const account of counted) account.take(now);
        return await next(request, options);
      }
      const waitMs = full.freeAt - now;
      const say = told.has(full.budget) ? 'debug' : 'info';
      told.add(full.budget);
      log[say](`The budget of ${full.budget.text} is used up: waiting ${Math.ceil(waitMs / 1000)} seconds.`, {
        waitMs,
      });
      await env.sleep(waitMs, options.signal);
    }
  };
}

/** The moments at which the last requests to a host started. */
export class BudgetAccount {
  readonly budget: Budget;
  /** A ring: as many as are allowed, the oldest at `#oldest`. */
  readonly #starts: number[] = [];
  #oldest = 0;

  constructor(budget: Budget) {
    this.budget = budget;
  }

  /** Milliseconds since 1970 from which the next request may start. */
  get freeAt(): number {
    const { calls, perMs } = this.budget;
    return this.#starts.length < calls ? -Infinity : (this.#starts[this.#oldest] ?? 0) + perMs;
  }

  take(now: number): void {
    if (this.#starts.length < this.budget.calls) this.#starts.push(now);
    else {
      this.#starts[this.#oldest] = now;
      this.#oldest = (this.#oldest + 1) % this.budget.calls;
    }
  }
}
