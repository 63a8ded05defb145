import yargs from 'yargs';
import { RunError } from '../errors.ts';
import { checkLine } from './check-line.ts';
import type { Command, Option } from './command.ts';
import { argsOf, isCommand, usageOf, type Parsed, type Place } from './parse.ts';

/**
 * Reads any command line. Help and version are printed by `print`; the result is then undefined.
 *
 * @throws {RunError} `command.invalid` for a command or an option that is unknown or incomplete, with a near miss
 */
export async function parseYargs(
  place: Place,
  options: {
    readonly version: string;
    readonly print: (text: string) => void;
    /** Columns that help may have, 100 at most. */
    readonly width?: number | undefined;
  },
): Promise<Parsed | undefined> {
  const { script, describe, entries, argv } = place;
  checkLine(place);
  if (argv.some((word) => word === '--version' || word === '-V')) {
    options.print(options.version);
    return undefined;
  }
  const isHelp = argv.includes('--help') || argv.includes('-h');
  let parsed: Parsed | undefined;
  const parser = yargs()
    .scriptName(script)
    .locale('en')
    .updateStrings({ 'Positionals:': 'Words:' })
    .usage(`$0 <command> [options]\n\n${describe}`)
    .parserConfiguration({
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'dot-notation': false,
      'camel-case-expansion': false,
    })
    .help('help', 'Show this help')
    .alias('help', 'h')
    .version(false)
    .wrap(Math.min(options.width ?? WIDEST, WIDEST))
    .strict()
    .demandCommand(1, 'Say what to do.')
    .exitProcess(false)
    .fail((message: string | null, error: Error | undefined) => {
      throw message === null && error !== undefined
        ? error
        : new RunError('command.invalid', message ?? '', { hint: `See ${script} --help.` });
    });
  // yargs has one name for an option and for a word
  if (!commandOf(place)?.words?.some(({ name }) => name === 'version'))
    parser.option('version', { alias: 'V', boolean: true, describe: 'Show the version' });
  for (const entry of entries) {
    if (!isCommand(entry)) {
      parser.command(usageOf(entry), entry.describe);
      continue;
    }
    parser.command(
      usageOf(entry),
      entry.describe,
      (builder) => {
        for (const { name, describe: text, isList } of entry.words ?? [])
          builder.positional(name, {
            describe: text,
            ...(isHelp ? {} : { type: 'string', array: isList === true }),
          });
        for (const [name, option] of Object.entries(entry.options))
          if (isHelp) builder.option(labelOf(name, option), { describe: describeOption(option) });
          else builder.option(name, yargsOption(option));
        return builder.usage(`$0 ${usageOf(entry)} [options]\n\n${entry.describe}`);
      },
      (values) => {
        const given = (entry.words ?? []).flatMap(({ name }): unknown[] => [values[name]].flat());
        const words = given.filter((word) => typeof word === 'string');
        parsed = { command: entry, args: argsOf(entry, values, words) };
      },
    );
  }
  await parser.parseAsync(argv, {}, (_error, _values, output) => {
    if (output !== '') options.print(isHelp ? `${withoutTypes(output)}\n${moreHelp(place)}` : output);
  });
  return parsed;
}

const SHOWN_EXAMPLES = 6;
const WIDEST = 100;

function commandOf({ entries, argv: [name] }: Place): Command | undefined {
  return entries.filter(isCommand).find((each) => each.name === name);
}

/** `data DIR`: a name that only help shows, so that it tells what the value is. */
function labelOf(name: string, { type, value = 'VALUE' }: Option): string {
  return type === 'boolean' ? name : `${name} ${value}`;
}

function describeOption({ describe, default: fallback }: Option): string {
  return fallback === undefined ? describe : `${describe} (default: ${fallback})`;
}

/** What is optional shows in the usage line, and a flag by its having no value. */
function withoutTypes(help: string): string {
  return help.replaceAll(/ *\[(?:boolean|required|array|default: \[\])\]/g, '').trimEnd();
}

/** Examples that can be pasted as they are, however narrow the terminal is. */
function moreHelp(place: Place): string {
  const { script, entries } = place;
  const command = commandOf(place);
  const examples =
    command?.examples ??
    entries
      .flatMap((entry) => (isCommand(entry) ? entry.examples.slice(0, 1) : [entry.example]))
      .slice(0, SHOWN_EXAMPLES);
  const lines = ['', 'Examples:', ...examples.flatMap(([line, text]) => [`  # ${text}`, `  ${line}`])];
  if (command === undefined)
    lines.push(
      '',
      `“${script} COMMAND --help” tells more of a command.`,
      'Exit code: 0 done, 1 a mistake of the input, 2 one of the program, 130 interrupted.',
    );
  return lines.join('\n');
}

function yargsOption({ type, describe, choices, default: fallback }: Option): Record<string, unknown> {
  return {
    describe,
    ...(type === 'boolean' ? { boolean: true } : { requiresArg: true, string: true }),
    ...(type === 'list' ? { array: true } : {}),
    ...(choices === undefined ? {} : { choices }),
    ...(fallback === undefined ? {} : { default: fallback }),
  };
}
