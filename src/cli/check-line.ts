import { parseArgs } from 'node:util';
import { RunError } from '../errors.ts';
import { nearest } from '../suggest.ts';
import type { Command, Option } from './command.ts';
import { isCommand, usageOf, type Place } from './parse.ts';

/**
 * Says what is wrong with a command line, and what was probably meant. One that asks for help is right.
 *
 * @throws {RunError} `command.invalid`
 */
export function checkLine(place: Place): void {
  const { script, entries, argv } = place;
  const [name = '', ...args] = argv;
  if (argv.some((word) => HELP.has(word))) return;
  if (name.startsWith('-'))
    throw refused(
      `There is no option ${name.split('=', 1)[0]} here.`,
      `Begin with a command. See ${script} --help.`,
    );
  const found = entries.find((entry) => entry.name === name);
  if (found === undefined) throw unknownCommand(name, place);
  if (isCommand(found)) checkArgs(found, args, `${script} ${name}`);
}

/** Begins an option: neither stdin nor a number. */
const SIGN = /^-[^\d]/;

const HELP: ReadonlySet<string> = new Set(['-h', '--help', '-V', '--version']);

function checkArgs(command: Command, args: readonly string[], line: string): void {
  const { options, words = [], refusesWords } = command;
  const help = `See ${line} --help.`;
  const given: string[] = [];
  for (const token of tokensOf(command, args)) {
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
  }
  const usage = `It is written ${line}${usageOf(command).slice(command.name.length)}.`;
  if (given.length < words.filter(({ isRequired }) => isRequired).length || given.includes(''))
    throw refused(usage, help);
  const extra = words.at(-1)?.isList === true ? undefined : given[words.length];
  if (extra === undefined) return;
  const isFolder = words.length === 0 && 'data' in options;
  throw refused(
    refusesWords ?? (words.length === 0 ? `${line} takes no words, and not “${extra}”.` : usage),
    isFolder && refusesWords === undefined ? `Did you mean --data ${extra}? ${help}` : help,
  );
}

function tokensOf({ options }: Command, args: readonly string[]): NonNullable<Tokens> {
  const { tokens } = parseArgs({
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

function unknownCommand(name: string, { script, entries }: Place): RunError {
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

function refused(message: string, hint: string): RunError {
  return new RunError('command.invalid', message, { hint });
}
