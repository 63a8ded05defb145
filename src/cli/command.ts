import type { Secrets } from '../secrets.ts';

/** A command of the command line: how it is written, and what it does. */
export interface Command {
  readonly name: string;
  /** One sentence. */
  readonly describe: string;
  /** A word that follows the command. */
  readonly positional?: { readonly name: string; readonly describe: string; readonly isRequired: boolean };
  /** Said of a word that does not belong there, instead of repeating it: it may be a secret. */
  readonly refusesWords?: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Command lines that work when pasted, each with a sentence. */
  readonly examples: readonly (readonly [string, string])[];
  /** @returns the exit code */
  run(args: Args, io: Io): Promise<number>;
}

export interface Option {
  readonly type: 'string' | 'boolean' | 'list';
  readonly describe: string;
  /** Name of the value in the help. */
  readonly value?: string;
  readonly default?: string;
  readonly choices?: readonly string[];
}

/** What was written, checked against the command's options. */
export interface Args {
  readonly positional: string | undefined;
  text(name: string): string | undefined;
  isSet(name: string): boolean;
  list(name: string): readonly string[];
}

/** The world of a command. */
export interface Io {
  /** Writes a result to stdout. */
  print(text: string): void;
  /** Writes a line for people to stderr. */
  note(text: string): void;
  /** Shows one line that the next call replaces; empty removes it. Only where stderr is a terminal. */
  live(text: string): void;
  readonly isTerminal: boolean;
  readonly secrets: Secrets;
  /** Aborted by Ctrl-C and by SIGTERM. */
  readonly signal: AbortSignal;
}
