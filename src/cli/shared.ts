import { systemEnv } from '../lib/env.ts';
import { RunError } from '../lib/errors.ts';
import { plainLine, terminalLine } from '../lib/logging/lines.ts';
import { createLog, type Level, type LeveledLog, type WriteEvent } from '../lib/logging/log.ts';
import { flag, listed, valued, type Args, type Io, type Option } from './command.ts';

export const dataOption: Option = valued('DIR', 'The data folder: it holds config.json', { default: '.' });

/** Options of commands that read the recording of a run. */
export const recordingOptions = {
  data: dataOption,
  recording: valued('FILE', 'A file that `gex run --record` wrote, in place of the last run'),
  row: listed('ID', 'Only this row of the configuration; may be given several times'),
} as const satisfies Record<string, Option>;

export const strictOption: Option = flag('Make warnings about the configuration errors');

export const logOptions = {
  'log-format': valued('FORMAT', 'Log lines on stderr: text for people, json for programs', {
    default: 'text',
    choices: ['text', 'json'],
  }),
  'log-level': valued('LEVEL', 'The least important lines to show: debug, info, warn or error', {
    default: 'info',
    choices: ['debug', 'info', 'warn', 'error'],
  }),
} as const satisfies Record<string, Option>;

/** Opens the log that the options describe. On a terminal it leaves the times out. */
export async function openLog(args: Args, io: Io, wanted?: Level): Promise<LeveledLog> {
  // the parser admits only the choices
  const level = wanted ?? ((args.text('log-level') ?? 'info') as Level);
  return createLog(await eventsFor(args, io), { level, secrets: io.secrets });
}

async function eventsFor(args: Args, io: Io): Promise<WriteEvent> {
  if (args.text('log-format') === 'json') {
    const { jsonEvents } = await import('../lib/logging/json.ts');
    return jsonEvents((line) => io.note(line.trimEnd()));
  }
  if (io.isTerminal) return (...event) => io.note(terminalLine(...event));
  return (...event) => io.note(plainLine(systemEnv.now(), ...event));
}

/** Returns a whole number from 1, or undefined when the option is not given. */
export function countArg(args: Args, name: string): number | undefined {
  const text = args.text(name);
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new RunError('command.invalid', `--${name} is a whole number from 1, and not “${text}”.`, {
    hint: `Write for example --${name} 2.`,
  });
}

/** Returns an HTTP address, or undefined when the option is not given. */
export function urlArg(args: Args, name: string): string | undefined {
  const text = args.text(name);
  if (text === undefined) return undefined;
  if (URL.canParse(text) && /^https?:/i.test(text)) return text;
  throw new RunError('command.invalid', `--${name} is an address, and not “${text}”.`, {
    hint: `Write for example --${name} https://storage.example.com.`,
  });
}
