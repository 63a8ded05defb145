import type { Env } from '../../lib/env.ts';
import {
  compilePath,
  entriesOf,
  getKey,
  isList,
  isObject,
  toText,
  withKey,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { numericOf } from '../../lib/read-settings.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { JobReport } from '../../engine/completeness/index.ts';
import type { LoginKeeper } from '../../engine/http/auth/index.ts';
import { graphAdvice } from './graph.ts';
import type { Observed } from './candidate.ts';
import { changingValues } from './compare.ts';
import { asManyAtOnce, canBePlanned, configurationOf, rowsKeys } from './configure.ts';
import { atFirstPage } from './first-page.ts';
import { findWay, type Way } from './find-way.ts';
import { fieldsOf, type Field } from './fields.ts';
import { isOffsetName, isPageName } from './guesses.ts';
import { listThatGoesOn } from './inside.ts';
import { findKey, findTime, type UniqueFields } from './keys.ts';
import { runOf, type ProbeContext, type ProbedList, type TriedSource } from './laboratory.ts';
import type { RowsPlace } from './rows.ts';
import { firstAnswer, placesIn } from './observe.ts';
import { leavesOf, sizedBy, topNames } from './params.ts';
import type { Settled } from './settle.ts';
import { documentIn, type DocumentSource } from './source.ts';
import { pathOf, signOf, signsOf, valueOf, type Signs } from './signs.ts';
import { whereItLed, type FoundRequest } from './target.ts';
import { Wire, type WireOptions } from './budgeted-client.ts';

export interface DiscoverOptions {
  readonly target: FoundRequest;
  /** Values of `$env:NAME`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Requests that may be made, redirects and repeated ones included. */
  readonly maxRequests: number;
  readonly env: Env;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
  /** Keeps logins of persons. */
  readonly logins?: LoginKeeper | undefined;
  readonly onStep?: (text: string) => void;
  readonly onRequest?: WireOptions['onRequest'];
}

/** Result of the discovery of a list. */
export interface Discovery {
  readonly target: FoundRequest;
  /** The first answer. */
  readonly answer: Json;
  readonly place: RowsPlace;
  /** Other lists of the answer. */
  readonly others: readonly RowsPlace[];
  readonly fields: readonly Field[];
  readonly key: UniqueFields;
  readonly time: Field | undefined;
  readonly signs: Signs;
  /** How the pages follow each other; undefined where nothing leads on. */
  readonly settled: Settled | undefined;
  readonly configuration: AnyObject;
  /** Report of the last run of the configuration; undefined if it did not come to its end. */
  readonly report: JobReport | undefined;
  readonly verdict: Settled['verdict'];
  /** Evidence against the configuration. */
  readonly against: readonly string[];
  readonly pages: number;
  readonly rows: number;
  readonly tried: readonly TriedSource[];
  readonly notes: readonly string[];
  /** The requests that are allowed were made before everything was tried. */
  readonly isSpent: boolean;
  readonly requests: number;
  /** Times that the API asked to wait. */
  readonly waits: number;
}

/** A list; or at the address there is a document that describes the API. */
export type Discovered = { readonly list: Discovery } | DocumentSource;

/**
 * Asks an API for a list, and finds out how to get all of it: the rows, their id and time, and the way from page to
 * page, which counts only when it was tried.
 *
 * @throws {ExtractorError} when there is no answer that rows could be taken from
 */
export async function discover(options: DiscoverOptions): Promise<Discovered> {
  const { env, secrets, signal, environment } = options;
  const given = atFirstPage(options.target);
  const wire = new Wire({
    maxRequests: options.maxRequests,
    env,
    ...(options.onRequest === undefined ? {} : { onRequest: options.onRequest }),
    onWait: (waitMs) => options.onStep?.(`waiting ${Math.ceil(waitMs / 1000)} s, as the API asks`),
  });
  const lab: ProbeContext = {
    wire,
    env,
    secrets,
    environment,
    signal,
    logins: options.logins,
    ...(options.onStep === undefined ? {} : { onStep: options.onStep }),
  };
  options.onStep?.('asking for the list');
  const answer = await firstAnswer(given, lab);
  const led = whereItLed(given, answer.url);
  const { body, headers } = answer;
  const document = documentIn(body, `${led.baseUrl}${led.endpoint}`);
  if (document !== undefined) return document;
  const [place, ...others] = await placesIn(answer, led, lab);
  const sized = sizedBy(led, place.rows.length);
  const target = sized === undefined ? led : { ...led, sizedBy: sized };

  const fields = fieldsOf(place.rows);
  const signs = signsOf(body, place, headers, topNames(target.params), `${target.baseUrl}${target.endpoint}`);
  const name = place.keys.at(-1) ?? target.dataType;
  const key = findKey(fields, place.rows, name);
  const known: ProbedList = {
    target,
    rowsKeys: rowsKeys(place),
    rows: place.rows,
    id: namedKey(key),
    changing: [],
  };
  const observed: Observed = {
    target,
    signs,
    rows: place.rows.length,
    id: key.paths[0],
    lastId: lastIdOf(place.rows, key),
    body,
  };
  const tried: TriedSource[] = [];
  const notes: string[] = [];
  const advice = graphAdvice(observed);
  if (advice !== undefined) notes.push(advice);
  const steady = place.kind === 'one' || place.rows.length === 0 ? known : await withChanges(known, lab);
  if (steady === undefined)
    notes.push(
      'How the pages follow: two equal requests bring different rows, and they have no id, so that no page can be told from another.',
    );
  const subject = steady ?? known;
  if (subject.changing.length > 0)
    notes.push(
      `${subject.changing.map((keys) => `\`${keys.join('.')}\``).join(', ')} changed from one request to the next: rows are told apart by the rest.`,
    );
  const { settled, isOpen, doubt, isSpent } =
    place.kind === 'one' || place.rows.length === 0 || steady === undefined
      ? NO_WAY
      : await findWay(observed, subject, lab, tried);
  return {
    list: await concluded({
      answer: body,
      settled,
      isOpen,
      doubt,
      isSpent,
      place,
      others,
      fields,
      signs,
      key,
      subject,
      tried,
      notes,
      lab,
    }),
  };
}

function lastIdOf(rows: readonly Json[], { paths: [path] }: UniqueFields): Json | undefined {
  const row = rows.at(-1);
  return path === undefined || row === undefined ? undefined : compilePath(path).find(row);
}

/** Ids by name tell rows of two pages apart; what is merely different on one page may be so by chance. */
function namedKey({ paths }: UniqueFields): readonly string[] {
  return paths.length === 1 && !/(?:^|\.)(?:name|number|no|email|title)$/i.test(paths[0] ?? '') ? paths : [];
}

/**
 * Identifies rows without an id by their content, as far as it stays the same from request to request.
 *
 * @returns undefined where it does not
 */
async function withChanges(subject: ProbedList, lab: ProbeContext): Promise<ProbedList | undefined> {
  if (subject.id.length > 0 || lab.wire.left < ENOUGH) return subject;
  lab.onStep?.('asking once more, as the rows have no id');
  const configuration = configurationOf(subject.target, { rows: subject.rowsKeys });
  lab.wire.forgetAll();
  const trial = await runOf(lab, configuration, 1);
  const again = trial.pages[0]?.rows;
  const changing = again === undefined ? [] : changingValues(subject.rows, again);
  return changing === undefined ? undefined : { ...subject, changing };
}

/** Requests that must be left for one that only makes sure. */
const ENOUGH = 5;

const NO_WAY: Way = { settled: undefined, isOpen: undefined, doubt: undefined, isSpent: false };

interface Parts {
  readonly settled: Settled | undefined;
  readonly isOpen: string | undefined;
  readonly doubt: string | undefined;
  readonly isSpent: boolean;
  readonly answer: Json;
  readonly place: RowsPlace;
  readonly others: readonly RowsPlace[];
  readonly fields: readonly Field[];
  readonly signs: Signs;
  readonly key: UniqueFields;
  readonly subject: ProbedList;
  readonly tried: readonly TriedSource[];
  readonly notes: readonly string[];
  readonly lab: ProbeContext;
}

/** Puts it together: the id and the time by all rows that came, the verdict by the run. */
async function concluded(found: Parts): Promise<Discovery> {
  const { place, signs, subject, lab } = found;
  // what brings none of the rows that are there is no way to them
  const isUseless =
    place.rows.length > 0 && found.settled?.trial.pages.every(({ rows }) => rows.length === 0) === true;
  const parts = isUseless ? { ...found, settled: undefined } : found;
  const configuration =
    parts.settled?.configuration ?? configurationOf(subject.target, { rows: subject.rowsKeys });
  const trial = parts.settled?.trial ?? (await runOf(lab, configuration, undefined));
  const rows = trial.pages.flatMap((page) => page.rows);
  const all = rows.length > 0 ? rows : place.rows;
  const fields = fieldsOf(all);
  const own = parts.settled === undefined ? ofOnePage(parts, trial.report) : parts.settled;
  const pages = trial.pages.filter((page) => page.rows.length > 0).length;
  const doubt = doubtOf(parts, own.verdict, rows, pages);
  const notes = [...parts.notes, ...doubt];
  return {
    target: subject.target,
    answer: parts.answer,
    place,
    others: parts.others.filter((each) => each.kind === 'list' && each.rows.length > 0 && each.score > 0),
    fields,
    key: findKey(fields, all, place.keys.at(-1) ?? subject.target.dataType),
    time: findTime(fields),
    signs,
    settled: parts.settled,
    configuration: pages >= MANY_PAGES || own.verdict === 'cut' ? withPlan(configuration) : configuration,
    report: trial.report,
    verdict: doubt.length > 0 ? 'cut' : own.verdict,
    against: own.against,
    pages,
    rows: rows.length,
    tried: parts.tried,
    notes,
    isSpent: parts.isSpent,
    requests: lab.wire.sent,
    waits: lab.wire.waits,
  };
}

/** Returns a doubt about a list that ended as if the address had asked for no more. */
function doubtOf(
  parts: Parts,
  verdict: Settled['verdict'],
  rows: readonly Json[],
  pages: number,
): readonly string[] {
  const hasEnded = verdict === 'ended' || verdict === 'complete';
  if (parts.settled === undefined) {
    if (hasEnded && parts.doubt !== undefined) return [parts.doubt];
    const inside = hasEnded ? insideDoubt(rows) : [];
    if (inside.length > 0) return inside;
    return verdict === 'ended' ? suspicion(parts) : [];
  }
  if (verdict === 'ended' && parts.settled.doubt !== undefined) return [parts.settled.doubt];
  if (!hasEnded || pages < 2 || valueOf(signOf(parts.signs, 'total')) !== undefined) return [];
  const name = countIn(parts.subject.target, rows.length);
  return name === undefined
    ? []
    : [
        `Whether these are all rows: as many came on ${pages} pages as \`${name}\` asks for, which some APIs take for the whole list. Try it without.`,
      ];
}

/** Returns a doubt about a list inside of the rows, of which only a part came, where that is longer than the rows are. */
function insideDoubt(rows: readonly Json[]): readonly string[] {
  const list = listThatGoesOn(rows);
  return list === undefined || list.count <= rows.length
    ? []
    : [
        `Whether these are all rows: inside of them \`${list.path}\` goes on, as \`${list.by}\` says, and only its first ${list.count} came. Ask for that list itself, or see the API's documentation.`,
      ];
}

/** Pages from which on it is worth asking for several at once. */
const MANY_PAGES = 3;

/** Lets pages that can be planned be asked for beside each other. */
function withPlan(configuration: AnyObject): AnyObject {
  const parameters = getKey(configuration, 'parameters');
  const api = isObject(parameters) ? getKey(parameters, 'api') : undefined;
  if (!isObject(parameters) || !isObject(api) || !canBePlanned(getKey(api, 'pagination')))
    return configuration;
  return withKey(configuration, 'parameters', withKey(parameters, 'api', asManyAtOnce(api)));
}

/** Rows that many APIs give at most. */
const USUAL = new Set([10, 15, 20, 25, 30, 40, 50, 60, 100, 200, 250, 500, 1000, 2000, 5000, 10_000]);

function ofOnePage(
  { place, signs, isOpen }: Parts,
  report: JobReport | undefined,
): Pick<Settled, 'verdict' | 'against'> {
  const doubts = report?.doubtful[0]?.doubts.map(({ text }) => text) ?? [];
  if (doubts.length > 0) return { verdict: 'doubtful', against: doubts };
  const total = valueOf(signOf(signs, 'total'));
  const rows = place.rows.length;
  if (place.kind !== 'one' && rows === 0)
    return {
      verdict: 'doubtful',
      against: [`The list \`${pathOf(place.keys) || '.'}\` is empty: nothing can be learnt from it.`],
    };
  if (total !== undefined && total > rows)
    return {
      verdict: 'doubtful',
      against: [
        `The answer says that there are ${total} rows, and has ${rows}; no way to the others was found.`,
      ],
    };
  if (report?.verdict !== 'complete' && isOpen !== undefined)
    return { verdict: 'doubtful', against: [isOpen] };
  return { verdict: report?.verdict === 'complete' ? 'complete' : 'ended', against: [] };
}

/** Returns a doubt about a list that is exactly as long as was asked for, or as a usual page. */
function suspicion({ place: { kind, rows }, subject, signs, tried }: Parts): string[] {
  const vague = signs.pointers.find(({ isVague }) => isVague === true);
  if (vague !== undefined)
    return [
      `Whether these are all rows: \`${vague.path}\` of the answer may be the place of the next page, and no parameter that was tried takes it. See the API's documentation.`,
    ];
  const letter = leavesOf(subject.target.params).find(({ keys, value }) => {
    const name = keys.at(-1) ?? '';
    return typeof value === 'string' && (isPageName(name) ? /^[A-Za-z]/ : FIRST_LETTER).test(value);
  });
  if (letter !== undefined)
    return [
      `Whether these are all rows: \`${letter.keys.join('.')}=${toText(letter.value)}\` of the address may be one page of several that have no numbers. See the API's documentation for the others.`,
    ];
  const page = pageInPath(subject.target) ?? (kind === 'list' ? firstInPath(subject.target) : undefined);
  if (page !== undefined)
    return [
      `Whether these are all rows: the address may have a page in its path, \`${page}\`. See the API's documentation for the way to the others.`,
    ];
  const asked = askedFor(rows, subject.target);
  if (asked === undefined && (kind !== 'list' || !USUAL.has(rows.length))) return [];
  const how = tried.length === 0 ? '' : ' No parameter that was tried leads to others.';
  const why =
    asked === undefined
      ? `the answer has exactly ${rows.length}, which is what many APIs give at most`
      : `the answer has exactly as many ${asked.things} as \`${asked.name}\` asks for`;
  return [
    `Whether these are all rows: ${why}, and nothing in it says that there are no more.${how} See the API's documentation.`,
  ];
}

/** Finds the parameter that the number of rows, or of what is in a list inside of them, is equal to. */
function askedFor(
  rows: readonly Json[],
  { params, headers, baseUrl, endpoint }: FoundRequest,
): { readonly name: string; readonly things: string } | undefined {
  const inside = new Map<string, number>();
  for (const row of rows)
    if (isObject(row))
      for (const [key, value] of entriesOf(row))
        if (isList(value)) inside.set(key, (inside.get(key) ?? 0) + value.length);
  const counted = countIn({ params }, rows.length);
  if (counted !== undefined) return { name: counted, things: 'rows' };
  for (const { name, number } of countsIn(params)) {
    const key = [...inside].find(([, count]) => count === number)?.[0];
    if (key !== undefined) return { name, things: `\`${key}\` in its rows` };
  }
  const texts = [
    ...leavesOf(params).map(({ keys, value }) => [keys.join('.'), value] as const),
    ...entriesOf(headers),
    ...partsOf(`${baseUrl}${endpoint}`).map((part) => [part, part] as const),
  ];
  const text = rows.length < FEW ? undefined : texts.find(([, value]) => speaksOf(rows.length, value));
  return text === undefined ? undefined : { name: text[0], things: 'rows' };
}

/** Returns the parameter that asks for this number of rows. */
function countIn({ params }: Pick<FoundRequest, 'params'>, count: number): string | undefined {
  return countsIn(params).find(({ number }) => number === count)?.name;
}

/** Returns the parameters that may be numbers of rows. */
function countsIn(params: AnyObject): readonly { readonly name: string; readonly number: number }[] {
  return leavesOf(params).flatMap(({ keys, value }) => {
    const [name, number] = [keys.join('.'), numericOf(value)];
    const isCount = number !== undefined && number >= FEW && !isPageName(name) && !isOffsetName(name);
    return isCount ? [{ name, number }] : [];
  });
}

/** Returns the parts of the path of an address. */
function partsOf(address: string): string[] {
  return (address.split('//')[1] ?? '').split('/').slice(1);
}

/** Tells whether a text has a number in it, or two with that difference: `jobs{0,40}`, `id ..; max=40`, `0-39`. */
function speaksOf(count: number, value: Json): boolean {
  if (typeof value !== 'string' || /\d{4}-\d{2}/.test(value)) return false;
  const numbers = (value.match(/(?<![\w.])\d{1,7}(?![\w.])/g) ?? []).map(Number);
  return numbers.some((number, i) => {
    const difference = number - (numbers[i - 1] ?? number);
    return number === count || difference === count || difference === count - 1;
  });
}

/** Returns the place of a page in a path: `page/1`. */
function pageInPath({ baseUrl, endpoint }: FoundRequest): string | undefined {
  const parts = partsOf(`${baseUrl}${endpoint}`);
  const at = parts.findIndex(
    (part, i) => (isPageName(part) || isOffsetName(part)) && /^\d{1,4}$/.test(parts[i + 1] ?? ''),
  );
  return at < 0
    ? parts.find((part) => /^(?:page|pg|p)-?\d{1,4}$/i.test(part))
    : `${parts[at]}/${parts[at + 1]}`;
}

/** A letter alone that others follow. */
const FIRST_LETTER = /^[aA]$/;

/** Returns the last part of a path that counts from its beginning, as no row is found by: `1`. */
function firstInPath({ baseUrl, endpoint }: FoundRequest): string | undefined {
  const last = partsOf(`${baseUrl}${endpoint}`).at(-1) ?? '';
  return /^[01]$/.test(last) ? last : undefined;
}

/** Fewer may be as many by chance. */
const FEW = 5;
