import { RecordError, type ExtractorError } from '../../lib/errors.ts';
import { isObject, JsonSyntaxError, keysOf, parseExact, type Json } from '../../lib/json/index.ts';
import { shownText } from '../../lib/shown-text.ts';
import { readSigns } from '../../engine/completeness/read-signs.ts';
import { charsetOf, DEFAULT_FORMAT, xmlDocument } from '../../engine/formats/index.ts';
import type { ApiResponse } from '../../engine/shared/message.ts';
import { configurationOf, rowsKeys } from './configure.ts';
import { firstFailure } from './first-failure.ts';
import { runOf, type ProbeContext } from './laboratory.ts';
import { findRows, type RowsPlace, type TextFormat } from './rows.ts';
import { NO_OWN } from './signs.ts';
import { documentValue } from './source.ts';
import type { FoundRequest } from './target.ts';

/** The first answer of an API, and where its rows are. */
export interface FirstAnswer {
  /** Null where it is no JSON. */
  readonly body: Json;
  /** Format of a plain text, by its look. */
  readonly format?: TextFormat;
  readonly headers: Readonly<Record<string, string>>;
  /** The address that answered, after redirects. */
  readonly url: string;
}

/**
 * Asks once.
 *
 * @throws {ExtractorError} for no answer, or one that no rows can be in, with what to write instead
 */
export async function firstAnswer(target: FoundRequest, lab: ProbeContext): Promise<FirstAnswer> {
  const trial = await runOf(lab, configurationOf(target, { rows: { dataField: '.' } }), 1);
  const { last } = lab.wire;
  const xml = last === undefined ? undefined : xmlOf(last);
  if (last !== undefined && xml !== undefined) return { body: xml, headers: last.headers, url: last.url };
  const isNoJson = trial.failure?.code === 'response.notJson';
  if (isNoJson && last !== undefined && isDescription(last))
    return { body: await documentValue(textOf(last), last.url), headers: last.headers, url: last.url };
  const format = isNoJson && last !== undefined ? formatOf(last) : undefined;
  if (last !== undefined && format !== undefined)
    return { body: null, format, headers: last.headers, url: last.url };
  if (trial.failure !== undefined) throw firstFailure(trial.failure, target, last);
  const text = last === undefined ? '' : textOf(last);
  if (last === undefined || text.trim() === '')
    throw new RecordError('response.shape', 'The answer is empty: there are no rows to learn from.', {
      hint: 'Ask for a list that has rows; check the address and its parameters.',
    });
  return { body: jsonOf(text), headers: last.headers, url: last.url };
}

function textOf({ body }: ApiResponse): string {
  return Buffer.from(body)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
}

/** Tells whether an answer is a description of an API in YAML: its first key, behind comments, says so. */
function isDescription(answer: ApiResponse): boolean {
  return /^(?:(?:#.*|---.*|\s*)\r?\n)*["']?(?:openapi|swagger)["']?\s*:/.test(textOf(answer).slice(0, 5000));
}

/** Returns an XML document as JSON, in the form that a run has; undefined for anything else. */
function xmlOf({ status, headers, body }: ApiResponse): Json | undefined {
  if (status < 200 || status > 299 || !/[/+]xml$/.test(typeOf(headers)) || typeOf(headers) === XHTML)
    return undefined;
  const bytes = Buffer.from(body);
  const parts = {
    bytes: bytes.length,
    read: (at: number, length: number) => bytes.subarray(at, at + length),
  };
  return xmlDocument(parts, DEFAULT_FORMAT.xml, charsetOf(headers).label);
}

const XHTML = 'application/xhtml+xml';

function typeOf(headers: ApiResponse['headers']): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Tells the format of plain text by its first lines. */
function formatOf({ headers, body }: ApiResponse): TextFormat | undefined {
  if (!/^(?:text\/plain|application\/octet-stream|application\/json|)$/.test(typeOf(headers)))
    return undefined;
  const lines = Buffer.from(body)
    .toString('utf8')
    .split('\n', 4)
    .filter((line) => line.trim() !== '');
  const [first = '', second] = lines;
  if (second === undefined) return undefined;
  if ([first, second].every((line) => isObject(jsonOf(line)))) return 'jsonl';
  const isTable = (delimiter: string): boolean =>
    first.includes(delimiter) && second.split(delimiter).length >= first.split(delimiter).length;
  if (!/^[\w "',.\t-]+\r?$/.test(first)) return undefined;
  return isTable('\t') ? 'tsv' : isTable(',') ? 'csv' : undefined;
}

/** CSV and JSON lines are read by the engine alone. */
function jsonOf(text: string): Json {
  try {
    return parseExact(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return null;
    throw error;
  }
}

/**
 * Returns the places of rows, the likeliest first, with the rows as a run reads them. A place that a run reads
 * differently is left out.
 *
 * @throws {RecordError} `response.shape` where there are none
 */
export async function placesIn(
  { body, headers, format }: FirstAnswer,
  target: FoundRequest,
  lab: ProbeContext,
): Promise<readonly [RowsPlace, ...RowsPlace[]]> {
  if (body === null) return [await otherFormat(target, headers, format, lab)];
  const places = findRows(body, target.dataType);
  for (const [i, place] of places.entries()) {
    const likely = place.score < 0 && isObject(body) ? oneObject(body) : place;
    const trial = await runOf(lab, configurationOf(target, { rows: rowsKeys(likely) }), 1);
    const rows = trial.pages[0]?.rows ?? [];
    if (likely.kind === 'one') refuseError(body);
    if (rows.length === likely.rows.length)
      return [{ ...likely, rows }, ...places.filter((_, at) => at !== i)];
  }
  throw noRows(body);
}

/** Refuses an error that has the status of a success: it is no row. */
function refuseError(body: Json): void {
  const seen = { envelope: body, rowsAt: undefined, rows: 0, isSingle: false, headers: {} };
  const error = readSigns(seen, NO_OWN).find(({ kind }) => kind === 'error');
  if (error === undefined) return;
  const text = 'text' in error && error.text !== '' ? `, “${shownText(error.text)}”` : '';
  throw new RecordError('response.shape', `The answer tells of an error: \`${error.path}\`${text}.`, {
    hint: 'Its status is that of a success. Check the address, its parameters and the login.',
  });
}

function oneObject(body: Json): RowsPlace {
  return { keys: [], kind: 'one', rows: [body], score: 0, why: 'the answer is one object' };
}

async function otherFormat(
  target: FoundRequest,
  headers: Readonly<Record<string, string>>,
  format: TextFormat | undefined,
  lab: ProbeContext,
): Promise<RowsPlace> {
  const rowsKey = format === undefined ? {} : { format };
  const trial = await runOf(lab, configurationOf(target, { rows: rowsKey }), 1);
  if (trial.failure !== undefined) throw firstFailure(trial.failure, target, lab.wire.last);
  const rows = trial.pages.flatMap((page) => page.rows);
  const why = `of ${shownText(typeOf(headers))}${format === undefined ? '' : `, read as ${format}`}`;
  return { keys: [], kind: 'list', rows, ...rowsKey, score: 0, why };
}

function noRows(body: Json): ExtractorError {
  const keys = isObject(body)
    ? keysOf(body)
        .slice(0, 10)
        .map((key) => `“${shownText(key)}”`)
    : [];
  const has = isObject(body) ? `It has ${keys.join(', ') || 'no keys at all'}.` : 'It is a single value.';
  return new RecordError('response.shape', `There is no list in the answer. ${has}`, {
    hint: 'Give the address of a list, such as https://api.example.com/v1/users.',
  });
}
