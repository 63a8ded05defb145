import yargs from 'yargs';
import { RunError } from '../errors.ts';
import { nearest } from '../suggest.ts';
import type { Command, Option } from './command.ts';
import { argsOf, type Parsed } from './parse.ts';

/**
 * Reads any command line. Help and version are printed by `print`; the result is then undefined.
 *
 * @throws {RunError} `command.invalid` for a command or an option that is unknown or incomplete, with a near miss
 */
export async function parseYargs(
  argv: readonly string[],
  commands: readonly Command[],
  options: { readonly version: string; readonly print: (text: string) => void },
): Promise<Parsed | undefined> {
  refuseUnknownCommand(argv, commands);
  let parsed: Parsed | undefined;
  const parser = yargs()
    .scriptName('gex')
    .locale('en')
    .usage('$0 <command> [options]\n\nTurns a description of a REST API (config.json) into CSV tables.')
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
      '“gex COMMAND --help” tells more of a command. Exit code: 0 done, 1 a mistake of the input, 2 one of the program, 130 interrupted.',
    )
    .exitProcess(false)
    .fail((message: string | null, error: Error | undefined) => {
      throw error === undefined || message !== null ? refused(message ?? '', argv, commands) : error;
    });
  for (const [line, text] of commands.flatMap(({ examples }) => examples.slice(0, 1)))
    parser.example(line, text);
  for (const command of commands) {
    parser.command(
      usageOf(command),
      command.describe,
      (builder) => {
        if (command.positional !== undefined) {
          builder.positional(command.positional.name, {
            type: 'string',
            describe: command.positional.describe,
          });
        }
        for (const [name, option] of Object.entries(command.options))
          builder.option(name, yargsOption(option));
        for (const [line, text] of command.examples) builder.example(line, text);
        return builder.usage(`$0 ${usageOf(command)}\n\n${command.describe}`).epilogue('');
      },
      (values) => {
        const word: unknown = command.positional === undefined ? undefined : values[command.positional.name];
        parsed = { command, args: argsOf(command, values, typeof word === 'string' ? word : undefined) };
      },
    );
  }
  await parser.parseAsync(argv, {}, (_error, _values, output) => {
    if (output !== '') options.print(output);
  });
  return parsed;
}

function usageOf({ name, positional }: Command): string {
  if (positional === undefined) return name;
  return `${name} ${positional.isRequired ? `<${positional.name}>` : `[${positional.name}]`}`;
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

function refuseUnknownCommand([first]: readonly string[], commands: readonly Command[]): void {
  if (first === undefined || first.startsWith('-')) return;
  const names = commands.map(({ name }) => name);
  if (names.includes(first)) return;
  const near = nearest(first, names);
  throw new RunError('command.invalid', `There is no command “${first}”.`, {
    hint:
      near === undefined
        ? `The commands are ${names.join(', ')}. See gex --help.`
        : `Did you mean “gex ${near}”?`,
  });
}

/** What is wrong in the words of the parser, with the option that was probably meant. */
function refused(message: string, argv: readonly string[], commands: readonly Command[]): RunError {
  const [name = ''] = argv;
  const command = commands.find((each) => each.name === name);
  const known = ['help', 'version', ...Object.keys(command?.options ?? {})];
  const near = argv
    .filter((word) => word.startsWith('--'))
    .map((word) => word.slice(2).split('=', 1)[0] ?? '')
    .filter((word) => !known.includes(word))
    .flatMap((word) => nearest(word, known) ?? []);
  const help = `See gex ${command === undefined ? '' : `${command.name} `}--help.`;
  const hasWord = argv.slice(1).some((word) => !word.startsWith('-') && message.includes(word));
  const said = hasWord ? (command?.refusesWords ?? message) : message;
  return new RunError('command.invalid', sentence(said), {
    hint: near.length === 0 ? help : `Did you mean ${near.map((word) => `--${word}`).join(', ')}? ${help}`,
  });
}

function sentence(message: string): string {
  const text = message.trim().replace(/\s*\n\s*/g, ' ');
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
