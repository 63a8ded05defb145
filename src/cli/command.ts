import type { TextSpan } from '../lib/logging/lines.ts';
import type { Secrets } from '../lib/secrets.ts';

/** Commands that begin with the same word: `gex storage tables list` is `list` of `tables` of `storage`. */
export interface CommandGroup {
  readonly name: string;
  /** One sentence. */
  readonly describe: string;
  /** A command line of one of them that works when pasted, with a sentence. */
  readonly example: readonly [string, string];
  /** The command that is meant where none is named: `gex runs` is `gex runs list`. Default: one has to be named. */
  readonly fallback?: string;
  /** Loads the commands on demand. */
  load(): Promise<readonly CommandEntry[]>;
}

export type CommandEntry = Command | CommandGroup;

/** A command of the command line: how it is written, and what it does. */
export interface Command {
  /** One word, the last one when it is of a group. */
  readonly name: string;
  /** One sentence. */
  readonly describe: string;
  /** Words that follow the command, in this order. */
  readonly words?: readonly Word[];
  /** Said of a word that does not belong there, instead of repeating it: it may be a secret. */
  readonly refusesWords?: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Command lines that work when pasted, each with a sentence. */
  readonly examples: readonly (readonly [string, string])[];
  /** @returns the exit code */
  run(args: Args, io: Io): Promise<number>;
}

export interface Word {
  readonly name: string;
  readonly describe: string;
  readonly isRequired: boolean;
  /** May be several; only of the last one. Default: false. */
  readonly isList?: boolean;
}

export interface Option {
  readonly type: 'string' | 'boolean' | 'list';
  readonly describe: string;
  /** Name of the value in the help. */
  readonly value?: string;
  readonly default?: string;
  readonly choices?: readonly string[];
}

/** Option without a value. */
export const flag = (describe: string): Option => ({ type: 'boolean', describe });

/** Option with a value; `value` is its name in the help. */
export const valued = (
  value: string,
  describe: string,
  more?: Pick<Option, 'choices' | 'default'>,
): Option => ({ type: 'string', value, describe, ...more });

/** Option that may be given several times. */
export const listed = (value: string, describe: string): Option => ({ type: 'list', value, describe });

/** Arguments of a command line, checked against the command's options. */
export interface Args {
  /** Returns a required word. */
  word(name: string): string;
  /** Returns the words of an argument that is optional, or may have several. */
  words(name: string): readonly string[];
  text(name: string): string | undefined;
  isSet(name: string): boolean;
  list(name: string): readonly string[];
}

/** The world of a command. */
export interface Io {
  /** Writes a result to stdout. */
  print(text: string): void;
  /** Writes bytes to stdout as they are, no faster than they are taken; ends early when nobody takes them any more. */
  send(bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Writes a line for people to stderr: a text, or its spans with their colours. */
  note(line: string | readonly TextSpan[]): void;
  /** Shows one line that the next call replaces; empty removes it. Only where stderr is a terminal. */
  live(text: string): void;
  readonly isTerminal: boolean;
  /** Columns that stdout has; undefined where it is no terminal, and any width will do. */
  readonly width?: number | undefined;
  readonly secrets: Secrets;
  /** Aborted by Ctrl-C and by SIGTERM. */
  readonly signal: AbortSignal;
}
