import { formatBytes, formatCount } from '../format.ts';

/** Formats a time of the service, in UTC: `2026-05-01T10:00:00Z`. */
export function time(text: string | null | undefined): string {
  return (text ?? '').replace(/\+0000$/, 'Z');
}

export function size(bytes: number | null | undefined): string {
  return bytes === null || bytes === undefined ? '' : formatBytes(bytes);
}

export function number(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : formatCount(value);
}

/** Formats names and values in lines; those without a value are left out. */
export function facts(pairs: readonly (readonly [string, string])[]): string {
  const said = pairs.filter(([, value]) => value !== '');
  const width = Math.max(0, ...said.map(([name]) => name.length));
  return said
    .map(([name, value]) => `${name.padEnd(width)}  ${value.replaceAll('\n', `\n${' '.repeat(width + 2)}`)}`)
    .join('\n');
}

/** Shortens a text to one line of at most so many characters, for a cell. */
export function short(text: string, most = 60): string {
  const line = text.replaceAll(/[\r\n]+/g, ' ↵ ').replaceAll(/\p{Cc}/gu, '�');
  return line.length <= most ? line : `${line.slice(0, most - 1).toWellFormed()}…`;
}
