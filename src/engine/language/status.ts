import { isList, isNumber, numberOf, type Json } from '../../lib/json/index.ts';
import { invalidSetting } from './value-settings.ts';
import type { SourceOptions } from './types.ts';

/** Reads statuses as they are written: 404, "4xx", "500-504", or a list of such. */
export function statusReading(
  value: Json,
  { at, invalid = invalidSetting }: SourceOptions,
): { readonly text: string; readonly holds: (status: number) => boolean } {
  const items = isList(value) ? value : [value];
  const ranges = items.map((item) => {
    const range = rangeOf(item);
    if (range !== undefined) return range;
    throw invalid(`${at}.status`, 'A status is written 404, "4xx" or "500-504", or as a list of such.');
  });
  return {
    text: ranges.map(({ text }) => text).join(', '),
    holds: (status) => ranges.some(({ from, to }) => status >= from && status <= to),
  };
}

function rangeOf(value: Json): { text: string; from: number; to: number } | undefined {
  const text = isNumber(value) ? String(numberOf(value)) : typeof value === 'string' ? value.trim() : '';
  const [, hundreds] = /^([1-5])xx$/i.exec(text) ?? [];
  if (hundreds !== undefined) return { text, from: Number(hundreds) * 100, to: Number(hundreds) * 100 + 99 };
  const [, from, to = from] = /^([1-5]\d\d)(?:\s*-\s*([1-5]\d\d))?$/.exec(text) ?? [];
  return from === undefined || Number(to) < Number(from)
    ? undefined
    : { text, from: Number(from), to: Number(to) };
}
