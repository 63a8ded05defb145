import type { Action } from './action.ts';
import { inferMapping } from './infer-mapping.ts';
import { loadFromCurl } from './load-from-curl.ts';
import { secretsIn } from './mask.ts';
import { performFunction } from './perform-function.ts';
import { testRequest } from './test-request.ts';
import type { Env } from '../../lib/env.ts';
import { ActionError, describeError, ExtractorError } from '../../lib/errors.ts';
import type { AuthType, LoginKeeper } from '../../engine/http/auth/index.ts';
import type { Send } from '../../engine/shared/message.ts';
import { objectOf, type AnyObject, type Json } from '../../lib/json/index.ts';
import type { Log } from '../../lib/log.ts';
import type { PaginationMethod } from '../../engine/pagination/index.ts';
import { withRedaction } from '../../lib/redact.ts';
import { nearest } from '../../lib/suggest.ts';

export interface ActionOptions {
  /** One component configuration: root and row merged, `#` values in place. */
  readonly configuration: AnyObject;
  /** Content of `in/state.json`; default empty. */
  readonly state?: AnyObject;
  readonly env: Env;
  /** For people; stdout belongs to the result. */
  readonly log: Log;
  readonly signal: AbortSignal;
  /** How long the whole action may take, in milliseconds; default 28,000: user interfaces wait 30 seconds. */
  readonly timeoutMs?: number;
  /** Pagination methods to choose from; all of this package by default. */
  readonly methods?: readonly PaginationMethod[];
  /** Kinds of authentication to choose from; all of this package by default. */
  readonly authTypes?: readonly AuthType[];
  /** Keeps logins whose tokens change; by default they end with the process. */
  readonly logins?: LoginKeeper | undefined;
  /** Takes the place of the network: a recording, a replay. */
  readonly bottom?: Send;
}

const ACTIONS: readonly Action[] = [loadFromCurl, inferMapping, performFunction, testRequest];

/** Names of all sync actions; `run` is none. */
export const ACTION_NAMES: readonly string[] = ACTIONS.map(({ name }) => name);

const TIMEOUT_MS = 28_000;

/**
 * Does what `action` of a configuration asks for other than `run`: a helper for user interfaces that writes nothing
 *. The result is one JSON document, exact: print it with `encodeExact`. No secret of the
 * configuration is in it.
 *
 * @throws {ExtractorError} for people, `action.unknown` and `action.late` among them; see {@link actionError}
 * @throws the reason of the signal when that is aborted
 */
export async function runAction(action: string, options: ActionOptions): Promise<Json> {
  const found = ACTIONS.find(({ name }) => name === action) ?? unknownAction(action);
  const { configuration, state = {}, signal, timeoutMs = TIMEOUT_MS } = options;
  const secrets = secretsIn(configuration);
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(tooLate(action, timeoutMs)), timeoutMs);
  try {
    const both = AbortSignal.any([signal, deadline.signal]);
    return await withRedaction(
      { ...options, configuration, state, secrets, signal: both },
      async (context) => await found.run(context),
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the output of a failed action: `{ status: "error", message }`. */
export function actionError(error: unknown): Json {
  const isOurs = error instanceof ExtractorError;
  return objectOf([
    ['status', 'error'],
    ['message', isOurs ? describeError(error) : `A mistake of this program: ${describeError(error)}`],
  ]);
}

function unknownAction(action: string): never {
  const near = nearest(action, ACTION_NAMES);
  throw new ActionError('action.unknown', `There is no action “${action}”.`, {
    where: { path: 'action' },
    hint: `${near === undefined ? '' : `Did you mean “${near}”? `}The actions are run, ${ACTION_NAMES.join(', ')}.`,
  });
}

function tooLate(action: string, timeoutMs: number): ActionError {
  return new ActionError(
    'action.late',
    `The action “${action}” was not done within ${timeoutMs / 1000} seconds.`,
    {
      hint: 'Try it with fewer rows, or see whether the API answers slowly.',
    },
  );
}
