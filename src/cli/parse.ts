import { parseArgs } from 'node:util';
import type { Args, Command } from './command.ts';

/** A command line, understood. */
export interface Parsed {
  readonly command: Command;
  readonly args: Args;
}

/**
 * Reads a command line that is right, in a millisecond. For anything else (help, an unknown option, a value that is
 * not among the choices) the result is undefined: `parse-yargs.ts` then helps, or says what is wrong. Both read the
 * options from the same tables; loading yargs would be a sixth of a short run.
 */
export function parseSimple(argv: readonly string[], commands: readonly Command[]): Parsed | undefined {
  const [name, ...rest] = argv;
  const command = commands.find((each) => each.name === name);
  if (command === undefined) return undefined;
  const { positional } = command;
  try {
    const { values, positionals } = parseArgs({
      args: rest,
      strict: true,
      allowPositionals: positional !== undefined,
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
    if (positionals.length > 1 || (positional?.isRequired === true && positionals.length === 0))
      return undefined;
    if (!Object.entries(values).every(([key, value]) => isChoice(command, key, value))) return undefined;
    return { command, args: argsOf(command, values, positionals[0]) };
  } catch {
    return undefined;
  }
}

function isChoice(command: Command, key: string, value: unknown): boolean {
  const choices = command.options[key]?.choices;
  return value !== '' && (choices === undefined || (typeof value === 'string' && choices.includes(value)));
}

/** The values behind their names; an option that was written several times counts as last written. */
export function argsOf(
  command: Command,
  values: Readonly<Record<string, unknown>>,
  positional: string | undefined,
): Args {
  return {
    positional,
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
