import type { Env } from '../../../lib/env.ts';
import type { Argument } from './arguments.ts';

/** One function of the configuration language. */
export interface LibraryFunction {
  /** How it is called, for messages and documentation; `[…]` may be left out. */
  readonly usage: string;
  /** One sentence. */
  readonly description: string;
  /** Fewest and most arguments. */
  readonly arity: readonly [number, number];
  /** Known in child placeholders only. */
  readonly placeholdersOnly?: boolean;
  /** Says something about values that are not there, so it is called although none of its arguments is. */
  readonly takesNothing?: boolean;
  readonly call: (args: readonly Argument[], env: Env) => Argument;
}
