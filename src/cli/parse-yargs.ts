import yargs from 'yargs';
import { RunError } from '../errors.ts';
import { nearest } from '../suggest.ts';
import type { Entry, Option } from './command.ts';
import { argsOf, isCommand, type Parsed, type Place } from './parse.ts';

/**
 * Reads any command line. Help and version are printed by `print`; the result is then undefined.
 *
 * @throws {RunError} `command.invalid` for a command or an option that is unknown or incomplete, with a near miss
 */
export async function parseYargs(
  place: Place,
  options: { readonly version: string; readonly print: (text: string) => void },
): Promise<Parsed | undefined> {
  const { script, describe, entries, argv } = place;
  refuseUnknownCommand(place);
  let parsed: Parsed | undefined;
  const parser = yargs()
    .scriptName(script)
    .locale('en')
    .usage(`$0 <command> [options]\n\n${describe}`)
    .parserConfiguration({
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'dot-notation': false,
      'camel-case-expansion': false,
    })
    .help('help', 'Show this help')
    .alias('help', 'h')
    .version('version', 'Show the version', options.version)
    .alias('version', 'V')
    .wrap(100)
    .strict()
    .demandCommand(1, 'Say what to do.')
    .epilogue(
      `“${script} COMMAND --help” tells more of a command. Exit code: 0 done, 1 a mistake of the input, 2 one of the program, 130 interrupted.`,
    )
    .exitProcess(false)
    .fail((message: string | null, error: Error | undefined) => {
      throw error === undefined || message !== null ? refused(message ?? '', place) : error;
    });
  const examples = entries.filter(isCommand).flatMap((entry) => entry.examples.slice(0, 1));
  for (const [line, text] of examples.slice(0, SHOWN_EXAMPLES)) parser.example(line, text);
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
            type: 'string',
            describe: text,
            ...(isList === true ? { array: true } : {}),
          });
        for (const [name, option] of Object.entries(entry.options)) builder.option(name, yargsOption(option));
        for (const [line, text] of entry.examples) builder.example(line, text);
        return builder.usage(`$0 ${usageOf(entry)}\n\n${entry.describe}`).epilogue('');
      },
      (values) => {
        const given = (entry.words ?? []).flatMap(({ name }): unknown[] => [values[name]].flat());
        const words = given.filter((word) => typeof word === 'string');
        parsed = { command: entry, args: argsOf(entry, values, words) };
      },
    );
  }
  await parser.parseAsync(argv, {}, (_error, _values, output) => {
    if (output !== '') options.print(output);
  });
  return parsed;
}

const SHOWN_EXAMPLES = 6;

/** `load <table> <file>`: how it is written, without its options. */
export function usageOf(entry: Entry): string {
  if (!isCommand(entry)) return `${entry.name} <command>`;
  const words = (entry.words ?? []).map(({ name, isRequired, isList }) => {
    const text = isList === true ? `${name}..` : name;
    return isRequired ? `<${text}>` : `[${text}]`;
  });
  return [entry.name, ...words].join(' ');
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

function refuseUnknownCommand({ script, entries, argv: [first] }: Place): void {
  if (first === undefined || first.startsWith('-')) return;
  const names = entries.map(({ name }) => name);
  if (names.includes(first)) return;
  const near = nearest(first, names);
  const among = script === 'gex' ? '' : ` of “${script}”`;
  throw new RunError('command.invalid', `There is no command “${first}”${among}.`, {
    hint:
      near === undefined
        ? `The commands are ${names.join(', ')}. See ${script} --help.`
        : `Did you mean “${script} ${near}”?`,
  });
}

/** What is wrong in the words of the parser, with the option that was probably meant. */
function refused(message: string, { script, entries, argv }: Place): RunError {
  const [name = ''] = argv;
  const command = entries.filter(isCommand).find((each) => each.name === name);
  const known = ['help', 'version', ...Object.keys(command?.options ?? {})];
  const near = argv
    .filter((word) => word.startsWith('--'))
    .map((word) => word.slice(2).split('=', 1)[0] ?? '')
    .filter((word) => !known.includes(word))
    .flatMap((word) => nearest(word, known) ?? []);
  const help = `See ${script} ${command === undefined ? '' : `${command.name} `}--help.`;
  const hasWord = argv.slice(1).some((word) => !word.startsWith('-') && message.includes(word));
  const said = hasWord ? (command?.refusesWords ?? message) : message;
  const isShort = command !== undefined && message.startsWith('Not enough non-option arguments');
  return new RunError(
    'command.invalid',
    isShort ? `It is written ${script} ${usageOf(command)}.` : sentence(said),
    {
      hint: near.length === 0 ? help : `Did you mean ${near.map((word) => `--${word}`).join(', ')}? ${help}`,
    },
  );
}

function sentence(message: string): string {
  const text = message.trim().replace(/\s*\n\s*/g, ' ');
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
