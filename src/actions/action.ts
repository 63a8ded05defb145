import type { Env } from '../env.ts';
import type { AuthType } from '../http/auth/index.ts';
import type { Send } from '../http/message.ts';
import type { AnyObject, Json } from '../json/index.ts';
import type { Log } from '../log.ts';
import type { PaginationMethod } from '../pagination/index.ts';
import type { Secrets } from '../secrets.ts';

/** What an action may use. */
export interface ActionContext {
  /** One component configuration: root and row merged, `#` values in place. */
  readonly configuration: AnyObject;
  /** Content of `in/state.json`. */
  readonly state: AnyObject;
  readonly env: Env;
  readonly log: Log;
  /** Knows what must not be shown; learns more while requests are made. */
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
  readonly methods?: readonly PaginationMethod[] | undefined;
  readonly authTypes?: readonly AuthType[] | undefined;
  readonly bottom?: Send | undefined;
}

/** A helper of user interfaces: short, without output files (spec extractor 1.7). */
export interface Action {
  /** The value of `action` in the configuration. */
  readonly name: string;
  /** @throws {ExtractorError} what went wrong, where, and what to do */
  readonly run: (context: ActionContext) => Promise<Json>;
}
