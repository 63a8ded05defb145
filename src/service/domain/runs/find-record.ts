import { isList, isObject, entriesOf, JsonNumber, parseExact, type Json } from '../../../lib/json/index.ts';

/** Value of a row that is looked for in answers. */
export interface WantedValue {
  readonly column: string;
  readonly text: string;
  /** Marks a value of the primary key. */
  readonly isKey: boolean;
}

/** Part of an answer that has values of a row. */
export interface FoundRecord {
  /** Place in the answer, such as `data[3]`; empty for all of it, and where the answer is no JSON. */
  readonly path: string;
  readonly record: Json | undefined;
  /** Columns whose values it has. */
  readonly columns: readonly string[];
  /** It has all values of the key, or where there is none all values at all. */
  readonly isSure: boolean;
}

/** Finds the part of an answer that has the most values of a row; undefined where none has enough of them. */
export function findRecord(body: Buffer, wanted: readonly WantedValue[]): FoundRecord | undefined {
  if (wanted.length === 0 || !mayHave(body, wanted)) return undefined;
  const text = body.toString('utf8');
  let json: Json;
  try {
    json = parseExact(text);
  } catch {
    return bestOf(
      [{ path: '', record: undefined, has: wanted.filter((value) => text.includes(value.text)) }],
      wanted,
    );
  }
  const byText = Map.groupBy(wanted, (value) => value.text);
  const candidates: Candidate[] = [];
  collect(json, '', byText, candidates);
  return bestOf(candidates, wanted);
}

interface Candidate {
  readonly path: string;
  readonly record: Json | undefined;
  readonly has: readonly WantedValue[];
}

/** Values that stand in JSON as they are, whoever wrote it. */
const PLAIN = /^[\w .:-]+$/;

/** Tells quickly that a body cannot have the values of the key. */
function mayHave(body: Buffer, wanted: readonly WantedValue[]): boolean {
  return wanted.every(({ isKey, text }) => !isKey || !PLAIN.test(text) || body.includes(text));
}

/**
 * Collects the objects of a document with the values that each has itself, in objects below it, and in lists of plain
 * values; objects in lists are records of their own.
 */
function collect(
  value: Json,
  path: string,
  byText: ReadonlyMap<string, readonly WantedValue[]>,
  candidates: Candidate[],
): ReadonlySet<WantedValue> {
  if (isList(value)) {
    const has = new Set<WantedValue>();
    for (const [i, item] of value.entries()) {
      const found = collect(item, `${path}[${i}]`, byText, candidates);
      if (!isObject(item) && !isList(item)) for (const each of found) has.add(each);
    }
    return has;
  }
  if (!isObject(value)) return new Set(byText.get(textOf(value)));
  const has = new Set<WantedValue>();
  for (const [key, item] of entriesOf(value))
    for (const each of collect(item, path === '' ? key : `${path}.${key}`, byText, candidates)) has.add(each);
  if (has.size > 0) candidates.push({ path, record: value, has: [...has] });
  return has;
}

const textOf = (value: Json): string =>
  value instanceof JsonNumber ? value.literal : typeof value === 'object' ? '' : String(value);

function bestOf(candidates: readonly Candidate[], wanted: readonly WantedValue[]): FoundRecord | undefined {
  const keys = wanted.filter(({ isKey }) => isKey).length;
  const isSure = ({ has }: Candidate): boolean =>
    keys === 0 ? has.length === wanted.length : has.filter(({ isKey }) => isKey).length === keys;
  let best: Candidate | undefined;
  for (const each of candidates)
    if (
      best === undefined ||
      Number(isSure(each)) - Number(isSure(best)) > 0 ||
      (isSure(each) === isSure(best) && each.has.length > best.has.length)
    )
      best = each;
  if (best === undefined) return undefined;
  const enough = Math.min(wanted.length, Math.max(2, Math.ceil(wanted.length / 2)));
  if (!isSure(best) && best.has.length < enough) return undefined;
  const { path, record, has } = best;
  return { path, record, columns: has.map(({ column }) => column), isSure: isSure(best) };
}
