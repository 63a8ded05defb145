import type { SampledExchange } from './sample-run.ts';
import { decoded } from './request-parts.ts';

/** Values that no API wants: what languages make of nothing by mistake. */
const RESIDUE = new Set(['undefined', 'NaN', '[object Object]', 'None']);

/** Returns what stands in a request that was to be replaced before: a template, a placeholder, or an empty value's name. */
export function leftoversIn(
  { request }: SampledExchange,
  placeholders: ReadonlySet<string>,
): readonly string[] {
  const { url, headers, body } = request;
  const { pathname, searchParams } = new URL(url);
  const texts: (readonly [string, string])[] = [
    ['the path', decoded(pathname)],
    ...[...searchParams].flatMap(([name, value]) => [
      ['the name of a parameter', name] as const,
      [`the parameter “${name}”`, value] as const,
    ]),
    ...Object.entries(headers).map(([name, value]) => [`the header “${name}”`, value] as const),
    ['the body', body === undefined ? '' : Buffer.from(body).toString('utf8')],
  ];
  return texts.flatMap(([where, text]) => {
    const left = leftoverOf(text, placeholders);
    return left === undefined ? [] : [`${where} has “${left}” in it`];
  });
}

function leftoverOf(text: string, placeholders: ReadonlySet<string>): string | undefined {
  if (RESIDUE.has(text)) return text;
  const template = /\{\{.*?(?:\}\}|$)|\{%.*?(?:%\}|$)/s.exec(text)?.[0];
  if (template !== undefined && !isJson(text)) return template.slice(0, 80);
  return [...text.matchAll(/\{([\w.-]+)\}/g)].find(([, name = '']) => placeholders.has(name))?.[0];
}

/** Two braces may stand side by side in JSON, as they end. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return !/"[^"]*\{\{[^"]*"/.test(text);
  } catch {
    return false;
  }
}
