import { parseArgs } from 'node:util';
import type { Args, Command, Entry, Group, Word } from './command.ts';

/** A command line, understood. */
export interface Parsed {
  readonly command: Command;
  readonly args: Args;
}

/** What can be written next, and what was. */
export interface Place {
  /** What was written before, such as `gex storage tables`. */
  readonly script: string;
  readonly describe: string;
  readonly entries: readonly Entry[];
  /** Begins with the name of an entry, unless it is wrong. */
  readonly argv: readonly string[];
}

/** Goes into the groups that the first words name. */
export async function descend(place: Place): Promise<Place> {
  const [name, ...argv] = place.argv;
  const group = place.entries.find((entry): entry is Group => entry.name === name && !isCommand(entry));
  if (group === undefined) return place;
  const { describe } = group;
  return await descend({
    script: `${place.script} ${group.name}`,
    describe,
    entries: await group.load(),
    argv,
  });
}

export function isCommand(entry: Entry): entry is Command {
  return 'run' in entry;
}

/** `load <table> <file>`: how it is written, without its options. */
export function usageOf(entry: Entry): string {
  if (!isCommand(entry)) return `${entry.name} <command>`;
  const words = (entry.words ?? []).map(({ name, isRequired, isList }) => {
    const text = isList === true ? `${name}..` : name;
    return isRequired ? `<${text}>` : `[${text}]`;
  });
  return [entry.name, ...words].join(' ');
}

/**
 * Reads a command line that is right, in a millisecond. For anything else (help, an unknown option, a value that is
 * not among the choices) the result is undefined: `parse-yargs.ts` then helps, or says what is wrong. Both read the
 * options from the same tables; loading yargs would be a sixth of a short run.
 */
export function parseSimple({ argv, entries }: Place): Parsed | undefined {
  const [name, ...rest] = argv;
  const command = entries.filter(isCommand).find((each) => each.name === name);
  if (command === undefined) return undefined;
  const { words = [] } = command;
  try {
    const { values, positionals } = parseArgs({
      args: rest,
      strict: true,
      allowPositionals: words.length > 0,
      options: Object.fromEntries(
        Object.entries(command.options).map(([key, { type }]) => [
          key,
          {
            type: type === 'boolean' ? ('boolean' as const) : ('string' as const),
            multiple: type === 'list',
          },
        ]),
      ),
    });
    if (!isEnough(words, positionals)) return undefined;
    if (!Object.entries(values).every(([key, value]) => isChoice(command, key, value))) return undefined;
    return { command, args: argsOf(command, values, positionals) };
  } catch {
    return undefined;
  }
}

function isEnough(words: readonly Word[], given: readonly string[]): boolean {
  const least = words.filter(({ isRequired }) => isRequired).length;
  const most = words.at(-1)?.isList === true ? Number.POSITIVE_INFINITY : words.length;
  return given.length >= least && given.length <= most && !given.includes('');
}

function isChoice(command: Command, key: string, given: unknown): boolean {
  const choices = command.options[key]?.choices;
  return [given].flat().every((value) => value !== '' && (choices?.includes(String(value)) ?? true));
}

/** The values behind their names; an option that was written several times counts as last written. */
export function argsOf(
  command: Command,
  values: Readonly<Record<string, unknown>>,
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
    text(name) {
      const value = values[name];
      const last: unknown = Array.isArray(value) ? value.at(-1) : value;
      return typeof last === 'string' ? last : command.options[name]?.default;
    },
    isSet: (name) => values[name] === true,
    list(name) {
      const value = values[name];
      return Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : [];
    },
  };
}
