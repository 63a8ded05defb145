import type { styleText } from 'node:util';
import type { LogFields } from '../log.ts';
import { oneLine, shownText } from '../shown-text.ts';
import type { Level } from './log.ts';

const COLOURS = { debug: 'gray', info: 'reset', warn: 'yellow', error: 'red' } as const;

const NAMES: Readonly<Record<Level, string>> = {
  debug: 'DEBUG',
  info: 'INFO',
  warn: 'WARNING',
  error: 'ERROR',
};

/** `[2026-01-02T03:04:05.000Z] generic-extractor.INFO: message {"job":"users"} []`, one line. */
export function componentLine(nowMs: number, level: Level, message: string, fields: LogFields): string {
  const context = Object.keys(fields).length === 0 ? '[]' : json(fields);
  return `[${iso(nowMs)}] generic-extractor.${NAMES[level]}: ${oneLine(message)} ${context} []`;
}

/** `2026-01-02T03:04:05.000Z WARNING message {"job":"users"}`: for a file that people read later. */
export function plainLine(nowMs: number, level: Level, message: string, fields: LogFields): string {
  return `${iso(nowMs)} ${NAMES[level]} ${oneLine(message)}${Object.keys(fields).length === 0 ? '' : ` ${json(fields)}`}`;
}

/** A part of a line for a terminal, with its colour. It has none until it is written, when its text is made safe. */
export interface Span {
  readonly text: string;
  readonly colour?: Colour;
}

type Colour = Parameters<typeof styleText>[0];

/** `warning: message (job users, page 2)`: for someone who is looking on. What the message says is not said again. */
export function terminalLine(level: Level, message: string, fields: LogFields): readonly Span[] {
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

/** The text of a line, without its colours. */
export function plainText(line: string | readonly Span[]): string {
  return typeof line === 'string' ? line : line.map(({ text }) => text).join('');
}

/** In colour where stderr shows it: not with `NO_COLOR`, nor for a terminal that has none (https://no-color.org). */
export function painted({ text, colour }: Span): string {
  if (colour === undefined) return text;
  // an import would load all that the module exports
  return process.getBuiltinModule('node:util').styleText(colour, text, { stream: process.stderr });
}

function iso(nowMs: number): string {
  return new Date(nowMs).toISOString();
}

function json(value: unknown): string {
  // What JSON leaves as it is stands inside of its texts, where an escape means the same.
  return shownText(
    JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? String(item) : item)),
  );
}
