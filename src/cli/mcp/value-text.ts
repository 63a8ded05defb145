import { leadText } from '../../engine/explain/value-origin-text.ts';
import { entriesOf, isList, isObject, parseExact, toText, type Json } from '../../lib/json/index.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { ToldPage } from '../../engine/explain/trace.ts';
import type { ToldText } from '../explain-text.ts';

const MOST_PLACES = 5;
const MOST_LINES = 60;
/** Bytes of answers that are looked through. */
const MOST_BYTES = 50_000_000;

/** Tells in which answers a value stands, in which requests it was sent, and what led there. */
export function valueText(told: readonly ToldText[], value: string, secrets: Secrets): string {
  const lines: string[] = [];
  let bytes = 0;
  for (const { recording, story } of told)
    for (const { name, runs } of story.jobs)
      for (const [index, { pages }] of runs.entries())
        for (const page of pages) {
          const run = runs.length === 1 ? '' : `, run ${index + 1}`;
          const at = `${name}${run}, page ${page.page}`;
          lines.push(...requestLines(page, value).map((line) => `${at}: ${line}`));
          bytes += page.body.bytes;
          if (bytes > MOST_BYTES || page.exchange.large !== undefined) continue;
          const body = Buffer.from(recording.file.bytes(page.body.at, page.body.bytes)).toString('utf8');
          lines.push(...answerLines(body, value).map((line) => `${at}: ${line}`));
        }
  if (lines.length === 0) return `“${value}” is in no request, and no value of an answer is equal to it.`;
  const more = lines.length > MOST_LINES ? [`… and ${lines.length - MOST_LINES} more places`] : [];
  return secrets.redactMessage([...lines.slice(0, MOST_LINES), ...more].join('\n'));
}

function requestLines({ exchange: { request }, from }: ToldPage, value: string): readonly string[] {
  const encoded = encodeURIComponent(value);
  const isSent = [request.url, request.body ?? ''].some(
    (text) => text.includes(value) || text.includes(encoded),
  );
  if (!isSent) return [];
  const leads = from.filter((lead) => !('value' in lead) || lead.value === value).map(leadText);
  return [`sent in ${request.method} ${request.url}${leads.length === 0 ? '' : `, by ${leads.join('; ')}`}`];
}

function answerLines(body: string, value: string): readonly string[] {
  if (!body.includes(value)) return [];
  let parsed: Json;
  try {
    parsed = parseExact(body);
  } catch {
    return ['in the text of the answer'];
  }
  const places: string[] = [];
  findIn(parsed, value, '', places);
  return places.map((place) => `in the answer at ${place === '' ? 'its top' : place}`);
}

function findIn(node: Json, value: string, at: string, places: string[]): void {
  if (places.length >= MOST_PLACES) return;
  const below = (key: string): string => (at === '' ? key : `${at}.${key}`);
  if (isList(node)) node.forEach((item, i) => findIn(item, value, below(String(i)), places));
  else if (isObject(node)) for (const [key, item] of entriesOf(node)) findIn(item, value, below(key), places);
  else if (node !== null && toText(node) === value) places.push(at);
}
