import type { styleText } from 'node:util';
import type { LogFields } from '../log.ts';
import { oneLine, shownText } from '../shown-text.ts';
import type { Level } from './log.ts';
import { isoTime } from '../iso-time.ts';

const COLOURS = { debug: 'gray', info: 'reset', warn: 'yellow', error: 'red' } as const;

const NAMES: Readonly<Record<Level, string>> = {
  debug: 'DEBUG',
  info: 'INFO',
  warn: 'WARNING',
  error: 'ERROR',
};

/** Formats `[2026-01-02T03:04:05.000Z] generic-extractor.INFO: message {"job":"users"} []`, one line. */
export function componentLine(nowMs: number, level: Level, message: string, fields: LogFields): string {
  const context = Object.keys(fields).length === 0 ? '[]' : json(fields);
  return `[${isoTime(nowMs)}] generic-extractor.${NAMES[level]}: ${oneLine(message)} ${context} []`;
}

/** Formats `2026-01-02T03:04:05.000Z WARNING message {"job":"users"}`: for a file that people read later. */
export function plainLine(nowMs: number, level: Level, message: string, fields: LogFields): string {
  return `${isoTime(nowMs)} ${NAMES[level]} ${oneLine(message)}${Object.keys(fields).length === 0 ? '' : ` ${json(fields)}`}`;
}

/**
 * Part of a line for a terminal, with its colour. Escape sequences are added only when it is written, after its text
 * was made safe.
 */
export interface TextSpan {
  readonly text: string;
  readonly colour?: Colour;
}

type Colour = Parameters<typeof styleText>[0];

/**
 * Formats `warning: message (job users, page 2)`: for a user at a terminal. Facts that the message contains are left
 * out.
 */
export function terminalLine(level: Level, message: string, fields: LogFields): readonly TextSpan[] {
  const facts = Object.entries(fields)
    .filter(
      ([, value]) => value !== undefined && !(typeof value === 'string' && message.includes(`“${value}”`)),
    )
    .map(([name, value]) => `${name} ${typeof value === 'string' ? shownText(value) : json(value)}`);
  return [
    ...(level === 'info'
      ? []
      : [{ text: NAMES[level].toLowerCase(), colour: COLOURS[level] }, { text: ': ' }]),
    { text: oneLine(message) },
    ...(facts.length === 0 ? [] : [{ text: ` (${facts.join(', ')})`, colour: 'dim' } as const]),
  ];
}

/** Returns the text of a line, without its colours. */
export function plainText(line: string | readonly TextSpan[]): string {
  return typeof line === 'string' ? line : line.map(({ text }) => text).join('');
}

/**
 * Colours a text where stderr shows it: not with `NO_COLOR`, nor for a terminal without colours (https://no-color.org).
 */
export function painted({ text, colour }: TextSpan): string {
  if (colour === undefined) return text;
  // an import would load all exports of the module
  return process.getBuiltinModule('node:util').styleText(colour, text, { stream: process.stderr });
}

function json(value: unknown): string {
  // JSON leaves these characters unescaped inside texts, where an escape means the same.
  return shownText(
    JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? String(item) : item)),
  );
}
