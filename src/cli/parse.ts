import type { parseArgs } from 'node:util';
import { RunError } from '../lib/errors.ts';
import { nearest } from '../lib/suggest.ts';
import type { Args, Command, CommandEntry, CommandGroup, Option } from './command.ts';

/** A command line, understood. */
export interface Parsed {
  readonly command: Command;
  readonly args: Args;
}

/** Position in a command line: the words so far, and the possible next ones. */
export interface ArgumentPlace {
  /** Words so far, such as `gex storage tables`. */
  readonly script: string;
  readonly describe: string;
  readonly entries: readonly CommandEntry[];
  /** The command that is meant where none is named. */
  readonly fallback?: string | undefined;
  /** Begins with the name of an entry, unless it is wrong. */
  readonly argv: readonly string[];
}

/** Goes into the groups that the first words name. */
export async function descend(place: ArgumentPlace): Promise<ArgumentPlace> {
  const [name, ...argv] = place.argv;
  const group = place.entries.find(
    (entry): entry is CommandGroup => entry.name === name && !isCommand(entry),
  );
  if (group === undefined) return place;
  const { describe, fallback } = group;
  return await descend({
    script: `${place.script} ${group.name}`,
    describe,
    entries: await group.load(),
    fallback,
    argv,
  });
}

export function isCommand(entry: CommandEntry): entry is Command {
  return 'run' in entry;
}

/** Returns the usage of a command without its options: `load <table> <file>`. */
export function usageOf(entry: CommandEntry): string {
  if (!isCommand(entry)) return `${entry.name} <command>`;
  const words = (entry.words ?? []).map(({ name, isRequired, isList }) => {
    const text = isList === true ? `${name}..` : name;
    return isRequired ? `<${text}>` : `[${text}]`;
  });
  return [entry.name, ...words].join(' ');
}

/** Words that ask for help or for the version, wherever they stand. */
export const HELP: ReadonlySet<string> = new Set(['-h', '--help', '-V', '--version']);

/**
 * Reads a command line that asks for no help.
 *
 * @throws {RunError} `command.invalid`: what is wrong, and what was probably meant
 */
export function parseLine(place: ArgumentPlace): Parsed {
  const { script, entries, fallback } = place;
  const [first = '-'] = place.argv;
  const argv = fallback !== undefined && first.startsWith('-') ? [fallback, ...place.argv] : place.argv;
  const [name = '', ...rest] = argv;
  if (name.startsWith('-'))
    throw refused(
      `There is no option ${name.split('=', 1)[0]} here.`,
      `Begin with a command. See ${script} --help.`,
    );
  const found = entries.find((entry) => entry.name === name);
  if (found === undefined) throw unknownCommand(name, place);
  if (!isCommand(found)) throw refused('Say what to do.', `See ${script} ${name} --help.`);
  return { command: found, args: readArgs(found, rest, `${script} ${name}`) };
}

/** Begins an option: neither stdin nor a number. */
const SIGN = /^-[^\d]/;

function readArgs(command: Command, argv: readonly string[], line: string): Args {
  const { options, words = [], refusesWords } = command;
  const help = `See ${line} --help.`;
  const given: string[] = [];
  const values: Record<string, readonly string[]> = {};
  for (const token of tokensOf(command, argv)) {
    if (token.kind === 'positional') given.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    if (!Object.hasOwn(options, name)) {
      const near = nearest(name, Object.keys(options));
      throw refused(
        `There is no option ${rawName}.`,
        near === undefined ? help : `Did you mean --${near}? ${help}`,
      );
    }
    const isNext = inlineValue !== true && SIGN.test(value ?? '');
    const problem = problemOf(options[name], `--${name}`, isNext ? undefined : value);
    const inline = isNext ? `A value that begins with “-” is written --${name}=VALUE. ` : '';
    if (problem !== undefined) throw refused(problem, inline + help);
    values[name] = [...(values[name] ?? []), value ?? 'true'];
  }
  const usage = `It is written ${line}${usageOf(command).slice(command.name.length)}.`;
  if (given.length < words.filter(({ isRequired }) => isRequired).length || given.includes(''))
    throw refused(usage, help);
  const extra = words.at(-1)?.isList === true ? undefined : given[words.length];
  if (extra === undefined) return argsOf(command, values, given);
  const isFolder = words.length === 0 && 'data' in options;
  throw refused(
    refusesWords ?? (words.length === 0 ? `${line} takes no words, and not “${extra}”.` : usage),
    isFolder && refusesWords === undefined ? `Did you mean --data ${extra}? ${help}` : help,
  );
}

/** Returns the values by their names; of an option that is written several times the last one counts. */
function argsOf(
  command: Command,
  values: Readonly<Record<string, readonly string[]>>,
  given: readonly string[],
): Args {
  const words = (name: string): readonly string[] => {
    const at = (command.words ?? []).findIndex((word) => word.name === name);
    if (at < 0) throw new Error(`${command.name} has no word “${name}”.`);
    return command.words?.[at]?.isList === true ? given.slice(at) : given.slice(at, at + 1);
  };
  return {
    words,
    word(name) {
      const [word] = words(name);
      if (word === undefined) throw new Error(`The word “${name}” of ${command.name} is not required.`);
      return word;
    },
    text: (name) => values[name]?.at(-1) ?? command.options[name]?.default,
    isSet: (name) => values[name]?.at(-1) === 'true',
    list: (name) => values[name] ?? [],
  };
}

function tokensOf({ options }: Command, args: readonly string[]): NonNullable<Tokens> {
  const { tokens } = process.getBuiltinModule('node:util').parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(options).map(([name, { type }]) => [
        name,
        { type: type === 'boolean' ? ('boolean' as const) : ('string' as const) },
      ]),
    ),
  });
  return tokens;
}

type Tokens = ReturnType<typeof parseArgs<{ tokens: true; strict: false; allowPositionals: true }>>['tokens'];

function problemOf(option: Option | undefined, name: string, value: string | undefined): string | undefined {
  if (option === undefined) return undefined;
  if (option.type === 'boolean')
    return value === undefined || value === 'true' || value === 'false'
      ? undefined
      : `${name} takes no value, and not “${value}”.`;
  const { choices, value: named = choices?.join('|') ?? 'VALUE' } = option;
  if (value === undefined) return `${name} needs a value: ${name} ${named}.`;
  // A text may be empty, such as a description that is taken away.
  if (value === '' && named !== 'TEXT') return `${name} needs a value, and has an empty one.`;
  if (choices?.includes(value) ?? true) return undefined;
  return `${name} is ${choices?.slice(0, -1).join(', ')} or ${choices?.at(-1)}, and not “${value}”.`;
}

function unknownCommand(name: string, { script, entries }: ArgumentPlace): RunError {
  const names = entries.map((entry) => entry.name);
  const near =
    nearest(name, names) ?? (name === '' ? undefined : names.find((each) => each.startsWith(name)));
  const among = script === 'gex' ? '' : ` of “${script}”`;
  return refused(
    `There is no command “${name}”${among}.`,
    near === undefined
      ? `The commands are ${names.join(', ')}. See ${script} --help.`
      : `Did you mean “${script} ${near}”?`,
  );
}

export function refused(message: string, hint: string): RunError {
  return new RunError('command.invalid', message, { hint });
}
