import type { Command, Option } from './command.ts';
import { wrapped } from './format.ts';
import { isCommand, usageOf, type ArgumentPlace } from './parse.ts';

/** The help of a place: of the command that is named there, else of all that is below it. */
export function helpOf(place: ArgumentPlace, width = WIDEST): string {
  const { script, describe, entries } = place;
  const command = commandOf(place);
  const most = Math.min(width, WIDEST);
  const usage = command === undefined ? '<command>' : usageOf(command);
  const parts: Readonly<Record<string, readonly Line[]>> = {
    Commands:
      command === undefined
        ? entries.map((entry) => [`  ${script} ${usageOf(entry)}`, entry.describe] as const)
        : [],
    Words: (command?.words ?? []).map((word) => [`  ${word.name}`, word.describe] as const),
    Options: [
      ['  -h, --help', 'Show this help'],
      ['  -V, --version', 'Show the version'],
      ...Object.entries(command?.options ?? {}).map(
        ([name, option]) => [labelOf(name, option), describeOption(option)] as const,
      ),
    ],
  };
  return [
    ...wrapped(`${script} ${usage} [options]`, most),
    '',
    ...wrapped(command?.describe ?? describe, most),
    ...Object.entries(parts).flatMap(([title, lines]) =>
      lines.length === 0 ? [] : ['', `${title}:`, ...inColumns(lines, most)],
    ),
    ...moreHelp(place, command),
  ].join('\n');
}

/** How it is written, indented, and what it does. */
type Line = readonly [string, string];

const SHOWN_EXAMPLES = 6;
const WIDEST = 100;

function commandOf({ entries, argv: [name] }: ArgumentPlace): Command | undefined {
  return entries.filter(isCommand).find((each) => each.name === name);
}

/** Returns the name of an option for the help, with its value: `data DIR`. */
function labelOf(name: string, { type, value = 'VALUE' }: Option): string {
  return `      --${name}${type === 'boolean' ? '' : ` ${value}`}`;
}

function describeOption({ describe, default: fallback }: Option): string {
  return fallback === undefined ? describe : `${describe} (default: ${fallback})`;
}

/** Two columns, the first one as wide as it needs to be and at most half as wide as both. */
function inColumns(lines: readonly Line[], width: number): string[] {
  const first = Math.min(Math.max(...lines.map(([label]) => label.length)), Math.floor(width / 2) + 2);
  return lines.flatMap(([label, text]) => {
    const indent = ' '.repeat(label.search(/\S/));
    const left = wrapped(label.trimStart(), first - indent.length).map((line) => indent + line);
    const right = wrapped(text, width - first - 2);
    return Array.from({ length: Math.max(left.length, right.length) }, (_, at) =>
      `${(left[at] ?? '').padEnd(first)}  ${right[at] ?? ''}`.trimEnd(),
    );
  });
}

/** Examples that can be pasted as they are, however narrow the terminal is. */
function moreHelp({ script, entries }: ArgumentPlace, command: Command | undefined): string[] {
  const examples =
    command?.examples ??
    entries
      .flatMap((entry) => (isCommand(entry) ? entry.examples.slice(0, 1) : [entry.example]))
      .slice(0, SHOWN_EXAMPLES);
  return [
    '',
    'Examples:',
    ...examples.flatMap(([line, text]) => [`  # ${text}`, `  ${line}`]),
    ...(command === undefined
      ? [
          '',
          `“${script} COMMAND --help” tells more of a command.`,
          'Exit code: 0 done, 1 a mistake of the input, 2 one of the program, 130 interrupted.',
        ]
      : []),
  ];
}
