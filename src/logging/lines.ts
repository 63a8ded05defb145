import type { LogFields } from '../log.ts';
import type { Level } from './log.ts';

const NAMES: Readonly<Record<Level, string>> = {
  debug: 'DEBUG',
  info: 'INFO',
  warn: 'WARNING',
  error: 'ERROR',
};

/** `[2026-01-02T03:04:05.000Z] generic-extractor.INFO: message {"job":"users"} []` (spec extractor 7.5), one line. */
export function componentLine(nowMs: number, level: Level, message: string, fields: LogFields): string {
  const context = Object.keys(fields).length === 0 ? '[]' : json(fields);
  return `[${iso(nowMs)}] generic-extractor.${NAMES[level]}: ${oneLine(message)} ${context} []`;
}

/** `2026-01-02T03:04:05.000Z WARNING message {"job":"users"}`: for a file that people read later. */
export function plainLine(nowMs: number, level: Level, message: string, fields: LogFields): string {
  return `${iso(nowMs)} ${NAMES[level]} ${oneLine(message)}${Object.keys(fields).length === 0 ? '' : ` ${json(fields)}`}`;
}

/** `warning: message (job users, page 2)`: for someone who is looking on. */
export function terminalLine(level: Level, message: string, fields: LogFields): string {
  const facts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : json(value)}`);
  const prefix = level === 'info' ? '' : `${NAMES[level].toLowerCase()}: `;
  return `${prefix}${message}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`;
}

function iso(nowMs: number): string {
  return new Date(nowMs).toISOString();
}

function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, ' ');
}

function json(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? String(item) : item));
}
