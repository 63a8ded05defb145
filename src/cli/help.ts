import yargs from 'yargs';
import type { Command, Option } from './command.ts';
import { isCommand, usageOf, type Place } from './parse.ts';

/** The help of a place: of the command that is named there, else of all that is below it. */
export async function helpOf(place: Place, width = WIDEST): Promise<string> {
  const { script, describe, entries } = place;
  const parser = yargs()
    .scriptName(script)
    .locale('en')
    .updateStrings({ 'Positionals:': 'Words:' })
    .usage(`$0 <command> [options]\n\n${describe}`)
    .help('help', 'Show this help')
    .alias('help', 'h')
    .version(false)
    .wrap(Math.min(width, WIDEST))
    .exitProcess(false);
  // yargs has one name for an option and for a word
  if (!commandOf(place)?.words?.some(({ name }) => name === 'version'))
    parser.option('version', { alias: 'V', boolean: true, describe: 'Show the version' });
  for (const entry of entries) {
    parser.command(usageOf(entry), entry.describe, (builder) => {
      if (!isCommand(entry)) return builder;
      for (const { name, describe: text } of entry.words ?? []) builder.positional(name, { describe: text });
      for (const [name, option] of Object.entries(entry.options))
        builder.option(labelOf(name, option), { describe: describeOption(option) });
      return builder.usage(`$0 ${usageOf(entry)} [options]\n\n${entry.describe}`);
    });
  }
  const name = commandOf(place)?.name;
  let help = '';
  await parser.parseAsync(
    [...(name === undefined ? [] : [name]), '--help'],
    {},
    (_error, _values, output) => {
      help = output;
    },
  );
  return `${withoutTypes(help)}\n${moreHelp(place)}`;
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
  return help.replaceAll(/(?<! ) *\[(?:boolean|required|array|default: \[\])\]/g, '').trimEnd();
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
