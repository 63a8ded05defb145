import { formatBytes, formatCount } from '../format.ts';

/** `2026-05-01T10:00:00Z`: the times of the service are in UTC, and are shown so. */
export function time(text: string | null | undefined): string {
  return (text ?? '').replace(/\+0000$/, 'Z');
}

export function size(bytes: number | null | undefined): string {
  return bytes === null || bytes === undefined ? '' : formatBytes(bytes);
}

export function number(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : formatCount(value);
}

/** Names with their values below each other; those without a value are left out. */
export function facts(pairs: readonly (readonly [string, string])[]): string {
  const said = pairs.filter(([, value]) => value !== '');
  const width = Math.max(0, ...said.map(([name]) => name.length));
  return said
    .map(([name, value]) => `${name.padEnd(width)}  ${value.replaceAll('\n', `\n${' '.repeat(width + 2)}`)}`)
    .join('\n');
}

/** One line of at most so many characters, for a cell. */
export function short(text: string, most = 60): string {
  const line = text.replaceAll(/[\r\n]+/g, ' ↵ ').replaceAll(/\p{Cc}/gu, '�');
  return line.length <= most ? line : `${line.slice(0, most - 1).toWellFormed()}…`;
}
