import {
  getKey,
  isEmpty,
  isList,
  isNumber,
  isObject,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { checkKeys, kindOf, numericOf } from '../../lib/read-settings.ts';
import { meantAndKnown } from '../../lib/suggest.ts';
import { compileCondition, type Condition } from './condition.ts';
import { ANSWER_KINDS } from './kinds.ts';
import { invalidSetting } from './value-settings.ts';
import { compileSource } from './source.ts';
import { needsOf, type ValueSource, type SourceNeeds, type SourceOptions } from './types.ts';

/** Actions for an answer. */
export const DEEDS = ['retry', 'login', 'empty', 'skip', 'rows', 'fail'] as const;
export type Deed = (typeof DEEDS)[number];

/** Response rule: an action for answers of which a condition holds, compiled once (docs/language/reactions.md). */
export interface Reaction {
  /** JSON path, for messages. */
  readonly at: string;
  readonly when: Condition;
  readonly do: Deed;
  /** Number of times that one request is sent again for it; of `retry` and `login`. */
  readonly times: number;
  readonly wait: Wait | undefined;
  /** Source of the API's own error message. */
  readonly message: ValueSource | undefined;
}

/** Time to wait: always the same, or read from the answer. */
export type Wait =
  | { readonly ms: number }
  | { readonly from: ValueSource; readonly as: WaitUnit | undefined; readonly leastMs: number };

/** Units of a number that is found; a date is a text. Without a unit it is read as in a header `Retry-After`. */
export const WAIT_UNITS = ['seconds', 'milliseconds', 'epoch', 'date'] as const;
export type WaitUnit = (typeof WAIT_UNITS)[number];

export const DEFAULT_TIMES = { retry: 10, login: 1 } as const;
/** Most times that a request is sent again. */
export const MOST_TIMES = 1000;
const MOST_WAIT_SECONDS = 86_400;

/**
 * Reads `reactions`: the actions for answers, by the first rule whose condition holds.
 *
 * ```
 * [{"when": {"value": "ok", "is": "false"}, "do": "fail", "message": "error"},
 * {"when": {"status": 403}, "do": "skip"},
 * {"when": {"status": 429}, "do": "retry", "wait": {"from": {"header": "X-Reset"}, "as": "epoch"}, "times": 5}]
 * ```
 *
 * @throws the error of the stage for a value that cannot be read
 */
export function compileReactions(node: Json | undefined, options: SourceOptions): readonly Reaction[] {
  const { at, invalid = invalidSetting } = options;
  if (node === undefined || isEmpty(node)) return [];
  const items = isList(node) ? node : undefined;
  if (items === undefined)
    throw invalid(
      at,
      `“reactions” is a list, and here is ${kindOf(node)}.`,
      'Put the reaction into brackets.',
    );
  return items.map((item, i) =>
    compileReaction(item, { ...options, at: `${at}[${i}]`, kinds: ANSWER_KINDS }),
  );
}

export function needsOfReactions(reactions: readonly Reaction[]): SourceNeeds {
  return needsOf(reactions.map(({ when }) => when));
}

const KEYS = ['when', 'do', 'wait', 'times', 'message'];

function compileReaction(node: Json, options: SourceOptions): Reaction {
  const { at, invalid = invalidSetting } = options;
  if (!isObject(node))
    throw invalid(
      at,
      `A reaction is an object, and here is ${kindOf(node)}.`,
      'Write {"when": {"status": 404}, "do": "skip"}.',
    );
  checkKeys(node, KEYS, at, invalid);
  const deed = deedOf(node, options);
  const when = getKey(node, 'when');
  if (when === undefined || isEmpty(when))
    throw invalid(
      `${at}.when`,
      'This reaction does not say when.',
      'Write "when": {"status": 404}, or another condition.',
    );
  checkFor(deed, node, options);
  const message = getKey(node, 'message');
  return {
    at,
    when: compileCondition(when, { ...options, at: `${at}.when` }),
    do: deed,
    times: timesOf(node, deed, options),
    wait: waitOf(getKey(node, 'wait'), { ...options, at: `${at}.wait` }),
    message:
      message === undefined || isEmpty(message)
        ? undefined
        : compileSource(message, { ...options, at: `${at}.message` }),
  };
}

function deedOf(node: AnyObject, { at, invalid = invalidSetting }: SourceOptions): Deed {
  const word = getKey(node, 'do');
  const deed = DEEDS.find((known) => known === word);
  if (deed !== undefined) return deed;
  throw invalid(
    `${at}.do`,
    typeof word === 'string' ? `Nothing is called “${word}”.` : 'This reaction does not say what to do.',
    meantAndKnown(word, DEEDS),
  );
}

/** Refuses keys without a meaning for the action: `wait` beside `skip` is a mistake. */
function checkFor(deed: Deed, node: AnyObject, { at, invalid = invalidSetting }: SourceOptions): void {
  const isAgain = deed === 'retry' || deed === 'login';
  for (const key of isAgain ? [] : ['wait', 'times']) {
    if (getKey(node, key) === undefined) continue;
    throw invalid(
      `${at}.${key}`,
      `“${key}” has no meaning with "do": "${deed}": nothing is sent again.`,
      'It belongs to "retry" and "login".',
    );
  }
}

function timesOf(node: AnyObject, deed: Deed, { at, invalid = invalidSetting }: SourceOptions): number {
  const usual = deed === 'retry' || deed === 'login' ? DEFAULT_TIMES[deed] : 0;
  const value = getKey(node, 'times');
  if (value === undefined || value === null) return usual;
  const times = numericOf(value);
  if (times !== undefined && Number.isInteger(times) && times >= 1 && times <= MOST_TIMES) return times;
  throw invalid(
    `${at}.times`,
    `“times” is a whole number from 1 to ${MOST_TIMES}: how often a request is sent again.`,
    'An answer that never changes would keep a run going for ever; what follows when it does not is the next reaction that holds, or an error.',
  );
}

function waitOf(value: Json | undefined, options: SourceOptions): Wait | undefined {
  const { at, invalid = invalidSetting } = options;
  if (value === undefined || value === null) return undefined;
  const seconds = numericOf(value);
  if (isNumber(value) || typeof value === 'string') {
    if (seconds !== undefined && seconds >= 0 && seconds <= MOST_WAIT_SECONDS) return { ms: seconds * 1000 };
    throw invalid(
      at,
      `A pause is a number of seconds from 0 to ${MOST_WAIT_SECONDS}, or says where the answer has it.`,
      'Write "wait": 30, or "wait": {"from": {"header": "X-Reset"}, "as": "epoch"}.',
    );
  }
  if (!isObject(value))
    throw invalid(at, `“wait” is a number of seconds or an object, and here is ${kindOf(value)}.`);
  checkKeys(value, ['from', 'as', 'atLeast'], at, invalid);
  const from = getKey(value, 'from');
  if (from === undefined || isEmpty(from))
    throw invalid(
      `${at}.from`,
      '“wait” does not say where the answer has the time.',
      'Write {"from": {"header": "X-Reset"}}.',
    );
  const word = getKey(value, 'as') ?? undefined;
  const as = WAIT_UNITS.find((known) => known === word);
  if (word !== undefined && as === undefined)
    throw invalid(`${at}.as`, 'Nothing is known of such a time.', meantAndKnown(word, WAIT_UNITS));
  const least = getKey(value, 'atLeast') ?? 0;
  const leastSeconds = numericOf(least);
  if (leastSeconds === undefined || leastSeconds < 0 || leastSeconds > MOST_WAIT_SECONDS)
    throw invalid(`${at}.atLeast`, `“atLeast” is a number of seconds from 0 to ${MOST_WAIT_SECONDS}.`);
  return { from: compileSource(from, { ...options, at: `${at}.from` }), as, leastMs: leastSeconds * 1000 };
}
