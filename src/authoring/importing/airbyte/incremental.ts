import { counted } from '../../../lib/counted.ts';
import { TemplateError } from './jinja/ast.ts';
import { addedParameters, type CursorTimes } from './code/as-base.ts';
import { readCode } from './code/read-code.ts';
import type { ManifestComponent } from './component.ts';
import { isMap, isSequence, mapOf, type ManifestNode } from './node.ts';
import { optionPlace } from './pagination.ts';
import { known, requestPosition, translated, type TemplateScope } from './scope.ts';
import { durationWords, phpFormat, windowFormat } from './time-format.ts';
import { pathText, type TranslatedJson, type Reference } from './translate/position.ts';
import { isNumeric } from '../numeric.ts';
import { call, NOW } from './translate/out.ts';
import { valueOf } from './translate/value.ts';

/** The incremental reading of a job. */
export interface IncrementalDraft {
  readonly incremental?: Readonly<Record<string, TranslatedJson>>;
  readonly windows?: Readonly<Record<string, TranslatedJson>>;
  /** Returns which rows a parent without a state has, by the source of the field. */
  readonly where?: (field: TranslatedJson) => TranslatedJson;
  /** Returns what the field is compared by, which may have another name than the state's. */
  readonly cursorOf?: (field: TranslatedJson) => TranslatedJson;
  /** Returns the source of the state by that of the field: no finer than the format that the state is kept in. */
  readonly stateOf?: (field: TranslatedJson) => TranslatedJson;
  readonly slots: ReadonlyMap<string, Reference>;
  readonly options: readonly {
    readonly place: ManifestNode;
    readonly value: TranslatedJson;
    readonly isForm: boolean;
  }[];
  /** Field of the record, as the manifest names it. */
  readonly cursorField?: string;
  /** The state is sent in a form. */
  readonly isForm?: boolean;
}

const NONE: IncrementalDraft = { slots: new Map(), options: [] };

interface StateUse {
  /** False for a parent whose state nobody keeps: it is read from the start in every run. */
  readonly keepsState: boolean;
  /** The field of the state is removed from the rows: it never moves, and no row is told to be old. */
  readonly isLost: boolean;
  /** Each part of the stream has a state of its own. */
  readonly isPartitioned: boolean;
}

/** Reads `incremental_sync`. */
export function readIncremental(
  cursor: ManifestComponent | undefined,
  scope: TemplateScope,
  use: StateUse,
): IncrementalDraft {
  if (cursor === undefined) return NONE;
  const { findings } = scope;
  if (cursor.className !== undefined) {
    const sent = readCode(cursor, scope, (type) => addedParameters(type, cursor, scope));
    if (sent === undefined) return NONE;
    if (sent.isOfFirstRun && use.keepsState)
      findings.moreRows(
        'Every run reads all rows, as the first one does: code of the other tool puts its state into the request in a form of its own.',
      );
    const keepsState = use.keepsState && !sent.isOfFirstRun;
    const draft = findings.attempt(cursor.at, cursor.className, () =>
      byTime(cursor, scope, { ...use, keepsState }, sent.times),
    );
    const more = [...sent.added].map(([query, value]) => ({
      place: { query },
      value: valueOf(value, requestPosition(scope)).out,
      isForm: false,
    }));
    return draft === undefined ? NONE : { ...draft, options: [...draft.options, ...more] };
  }
  return (
    findings.attempt(
      cursor.at,
      () => cursor.get('start_datetime'),
      () => {
        if (cursor.type === 'IncrementingCountCursor') return byCount(cursor, scope, use);
        if (cursor.type === 'DatetimeBasedCursor') return byTime(cursor, scope, use);
        throw new TemplateError(`the cursor ${cursor.type}`);
      },
    ) ?? NONE
  );
}

function textOf(cursor: ManifestComponent, key: string, scope: TemplateScope): string | undefined {
  const value = cursor.get(key);
  if (value === undefined || value === '') return undefined;
  const fixed = known(value, cursor, scope).value;
  if (typeof fixed === 'string' || typeof fixed === 'number') return String(fixed);
  throw new TemplateError(`“${key}” that is known only while it runs`);
}

function byCount(
  cursor: ManifestComponent,
  scope: TemplateScope,
  { keepsState, isLost, isPartitioned }: StateUse,
): IncrementalDraft {
  const option = cursor.child('start_value_option');
  const place = optionPlace(option, scope);
  const isForm = option?.text('inject_into') === 'body_data';
  const start = cursor.get('start_value');
  const first = start === undefined ? 0 : translated(start, cursor, scope, requestPosition(scope)).out;
  const field = textOf(cursor, 'cursor_field', scope) ?? '';
  if (!keepsState || isLost)
    return {
      ...NONE,
      cursorField: field,
      options: place === undefined ? [] : [{ place, value: first, isForm }],
    };
  return {
    ...NONE,
    cursorField: field,
    isForm,
    incremental: {
      cursor: pathText([field]),
      first,
      as: 'number',
      ...(place === undefined ? {} : { to: place }),
      ...perPart(isPartitioned),
    },
  };
}

function perPart(isPartitioned: boolean): Readonly<Record<string, TranslatedJson>> {
  return isPartitioned ? { perParent: true } : {};
}

function byTime(
  written: ManifestComponent,
  scope: TemplateScope,
  { keepsState, isLost, isPartitioned }: StateUse,
  { readsAny, writesIso }: CursorTimes = { readsAny: false, writesIso: false },
): IncrementalDraft {
  const stated = textOf(written, 'datetime_format', scope) ?? '%Y-%m-%dT%H:%M:%S.%f%z';
  const cursor = writesIso ? withFormats(written, stated) : written;
  const format = writesIso ? ISO : stated;
  const field = textOf(cursor, 'cursor_field', scope) ?? '';
  const step = spanOf(cursor, 'step', scope);
  const granularity = spanOf(cursor, 'cursor_granularity', scope);
  const lookback = spanOf(cursor, 'lookback_window', scope);
  if (cursor.get('clamping') !== undefined)
    throw new TemplateError('windows that are clamped to days, weeks or months');
  const startKey = textOf(cursor, 'partition_field_start', scope) ?? 'start_time';
  const endKey = textOf(cursor, 'partition_field_end', scope) ?? 'end_time';
  const [from, to] = (['from', 'to'] as const).map((bound): TranslatedJson =>
    writesIso ? call('replace', { window: bound }, '.000000Z', 'Z') : boundOut(bound, format),
  );
  const slots = new Map<string, Reference>([
    [startKey, { out: from ?? '', type: 'text' }],
    [endKey, { out: to ?? '', type: 'text' }],
  ]);
  const options = [
    ...boundOf(cursor, 'start_time_option', from ?? '', format, scope),
    ...boundOf(cursor, 'end_time_option', to ?? '', format, scope),
  ];
  const start = momentOf(cursor, 'start_datetime', format, scope);
  const end = endOf(cursor, format, granularity, scope);
  checkStrict(cursor, format, granularity, end);
  // a day or a month that has only begun by the end is asked for again
  const isBegun =
    !['microsecond', 'millisecond', 'second'].includes(finestUnit(format)) &&
    (end === undefined || end === NOW || isFiner(formatOf(cursor, 'end_datetime', scope), format));
  // windows that end where the next one begins, however fine the API tells moments apart
  const isSeamless = granularity === undefined && step !== undefined;
  const isThrough = granularity !== undefined || (isBegun && !isSeamless);
  const cursorOf = readsAny ? (field: TranslatedJson) => field : cursorReader(written, stated);
  const isFilter = cursor.flag('is_client_side_incremental');
  const isFeed = cursor.flag('is_data_feed');
  const stateOf = readsAny || writesIso ? undefined : stateReader(cursor, format, isFilter || isFeed);
  const isLeavingOut = !isLost && (isFilter || isFeed) && start !== undefined;
  // a state of days says nothing of a start inside of a day
  const isRough =
    isLeavingOut &&
    stateOf !== undefined &&
    !hasTime(format) &&
    hasTime(formatOf(cursor, 'start_datetime', scope));
  const windows = {
    from: start ?? 0,
    ...(end === undefined ? {} : { to: end }),
    ...(step === undefined ? {} : { step }),
    format: windowFormat(format),
    ...(isThrough ? { end: 'through' } : {}),
    ...(granularity === undefined ? {} : { granularity }),
    // the end of a window of days is no whole day
    ...(isSeamless && !hasTime(format) ? { granularity: '1 second' } : {}),
  };
  const incremental = {
    ...(stateOf === undefined
      ? { cursor: pathText([field]), ...(readsAny ? {} : formOf(written, stated)) }
      : { cursor: stateOf({ path: pathText([field]) }) }),
    ...(start === undefined ? {} : { first: isRough ? call('date', 'Y-m-d', secondsOf(start)) : start }),
    ...(lookback === undefined ? {} : { lookback }),
    // a state is never older than the start, whatever rows come
    ...(start === undefined ? {} : { notBefore: start }),
    as: 'time',
    ...(isFilter || isFeed ? { filter: true } : {}),
    ...(isFeed ? { order: 'descending' } : {}),
    ...(isPartitioned ? { perParent: !cursor.flag('global_substream_cursor') } : {}),
  };
  if ((isFilter || isFeed) && !isLost && isBeforeNow(end, format))
    scope.findings.moreRows(
      'Rows after the end are written, and move the state: the other tool leaves them out, as those before its state.',
    );
  if (keepsState && !isLost && isApart(step, granularity, format))
    scope.findings.rowsTwice(
      'a later run asks for what is new alone; the other tool asks for all but the first window again, since its granularity is finer than its format, and so no window ends beside the next; their rows are merged by the primary key',
    );
  if (writesIso && keepsState && !isLost)
    scope.findings.note(
      'Times after a state are sent in UTC; the other tool sends the same moments in the offset of the state.',
    );
  if (/month|year/.test(step ?? ''))
    scope.findings.note(
      'Windows of months that begin after the 28th end with shorter months; in the other tool all later ones begin on that earlier day, too. Together they cover the same time.',
    );
  return {
    windows,
    ...(keepsState && !isLost ? { incremental } : {}),
    ...(isLeavingOut && (isRough || !keepsState)
      ? { where: (source) => notBefore(plainPath(cursorOf(source)), start) }
      : {}),
    slots,
    options,
    cursorField: field,
    cursorOf,
    ...(stateOf === undefined ? {} : { stateOf }),
  };
}

/** The form in which Python code writes times, which has no fraction for whole seconds. */
const ISO = '%Y-%m-%dT%H:%M:%S.%fZ';

/** Returns a cursor whose bounds say the format that is that of the cursor for want of one. */
function withFormats(cursor: ManifestComponent, datetime_format: string): ManifestComponent {
  const bounds = ['start_datetime', 'end_datetime'].flatMap((key): [string, ManifestNode][] => {
    const bound = cursor.get(key);
    if (bound === undefined) return [];
    const own = isMap(bound) ? bound : { type: 'MinMaxDatetime', datetime: bound };
    return [[key, { datetime_format, ...own }]];
  });
  return cursor.with(mapOf(bounds));
}

/**
 * Returns the end of the last window; undefined for now. Without a granularity it is sent in the format of the cursor,
 * so that a format without a time ends at the day that has begun; an end that is given is read in its own format.
 */
function endOf(
  cursor: ManifestComponent,
  format: string,
  granularity: string | undefined,
  scope: TemplateScope,
): TranslatedJson | undefined {
  const given = momentOf(cursor, 'end_datetime', format, scope);
  const endFormat = formatOf(cursor, 'end_datetime', scope);
  // the present time of a function is one in whole seconds
  if (given === NOW && hasFraction(endFormat || format)) return undefined;
  if (given === undefined || hasTime(format)) return given;
  const isBegun = granularity === undefined && (given === NOW || isFiner(endFormat, format));
  if (hasTime(endFormat) || isBegun) return given;
  if (typeof given === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(given)) return given;
  return call('strtotime', /%[dejFx]/.test(format) ? 'today' : FIRST_OF_MONTH, secondsOf(given));
}

/**
 * Returns what makes the state of a field whose times are finer than the format that the state is kept in: of a time
 * its day, and of one to the microsecond its second where rows before the state are left out. Undefined elsewhere.
 */
function stateReader(
  cursor: ManifestComponent,
  format: string,
  isFiltering: boolean,
): ((field: TranslatedJson) => TranslatedJson) | undefined {
  const formats = cursorFormats(cursor, format);
  if (format === '%Y-%m-%d' && formats.some(hasTime) && formats.every((one) => one.startsWith(format)))
    return (field) => call('if', secondsIn(formats, field), call('substr', field, 0, 10), '');
  const isToSecond = USUAL.test(format) && format.includes('%S') && !hasFraction(format);
  if (!isFiltering || !isToSecond || !formats.some(hasFraction) || formats.some(isSince1970))
    return undefined;
  return (field) => secondsIn(formats, field);
}

/** Returns the time of a field by the first format that fits; an empty text where none does. */
function secondsIn(formats: readonly string[], field: TranslatedJson): TranslatedJson {
  return formats
    .map(phpFormat)
    .reduceRight<TranslatedJson>((otherwise, one) => call('parse_date', field, one, null, otherwise), '');
}

function hasFraction(format: string): boolean {
  return /%(?:f|_ms)/.test(format);
}

/** Returns the format that a bound has of its own. */
function formatOf(
  cursor: ManifestComponent,
  key: 'start_datetime' | 'end_datetime',
  scope: TemplateScope,
): string {
  const inner = cursor.child(key);
  return inner === undefined ? '' : (textOf(inner, 'datetime_format', scope) ?? '');
}

/** Tells if an end is given that may be before the present time. */
function isBeforeNow(end: TranslatedJson | undefined, format: string): boolean {
  if (end === undefined) return false;
  const text = JSON.stringify(end);
  const isMidnight = text.includes('"today"') || text.includes('"date","args":["Y-m-d",');
  return (
    text.includes('"attr"') ||
    !text.includes(JSON.stringify(NOW)) ||
    /"-\d/.test(text) ||
    (isMidnight && hasTime(format))
  );
}

/**
 * Tells if windows lie apart in the state of the other tool. The end of one is a granularity before the next, cut to what
 * the format says of it; windows are one where another granularity leads from there to the next.
 */
function isApart(step: string | undefined, granularity: string | undefined, format: string): boolean {
  if (step === undefined || granularity === undefined) return false;
  const [count = '', unit = ''] = granularity.split(' ');
  const finest = finestUnit(format);
  const [one, least] = [SIZES.indexOf(unit.replace(/s$/, '')), SIZES.indexOf(finest)];
  if (unit.startsWith('microsecond') && finest === 'millisecond') return Number(count) < 1000;
  return one !== -1 && one < least;
}

/** Tells if a format tells moments apart that are one in another. */
function isFiner(format: string, other: string): boolean {
  return SIZES.indexOf(finestUnit(format)) < SIZES.indexOf(finestUnit(other));
}

const SIZES = ['microsecond', 'millisecond', 'second', 'minute', 'hour', 'day', 'month'];

function finestUnit(format: string): string {
  if (/%(?:f|epoch_microseconds)/.test(format)) return 'microsecond';
  if (/%_?ms/.test(format)) return 'millisecond';
  if (/%[sSTcX]/.test(format)) return 'second';
  if (format.includes('%M')) return 'minute';
  if (/%[HI]/.test(format)) return 'hour';
  return /%[dejFx]/.test(format) ? 'day' : 'month';
}

function hasTime(format: string): boolean {
  return /%(?:H|I|M|S|s|f|T|c|X|m?s|epoch)/.test(format);
}

/**
 * Refuses windows of no length that the other tool leaves out, where a state can be as new as the end. A time to the
 * second is older than the start of the run.
 */
function checkStrict(
  cursor: ManifestComponent,
  format: string,
  granularity: string | undefined,
  end: TranslatedJson | undefined,
): void {
  if (!cursor.flag('is_compare_strictly') || granularity === undefined) return;
  if (hasTime(format) && (end === undefined || end === NOW)) return;
  throw new TemplateError('windows of no length that are left out');
}

const FIRST_OF_MONTH = 'first day of this month midnight';

/** Returns a condition on the cursor that keeps rows without the field. */
export function notBefore(cursor: TranslatedJson, start: TranslatedJson): TranslatedJson {
  return {
    any: [
      { value: cursor, is: 'absent' },
      { value: cursor, is: 'atLeast', than: start, as: 'time' },
    ],
  };
}

/** Returns a bound of a window; seconds with a fraction have no zeros at the end of it but the first. */
function boundOut(bound: 'from' | 'to', format: string): TranslatedJson {
  const out = { window: bound };
  return format === '%s_as_float' ? call('match', out, String.raw`^(\d+\.\d+?)0*$`) : out;
}

/** Returns where a bound of a window is sent: a number since 1970 is a text, also in a JSON body. */
function boundOf(
  cursor: ManifestComponent,
  key: string,
  bound: TranslatedJson,
  format: string,
  scope: TemplateScope,
): IncrementalDraft['options'] {
  const option = cursor.child(key);
  const place = optionPlace(option, scope);
  if (place === undefined) return [];
  const into = option?.text('inject_into');
  const isNumber = windowFormat(format).startsWith('epoch');
  const value = into === 'body_json' && isNumber ? call('concat', bound) : bound;
  return [{ place, value, isForm: into === 'body_data' }];
}

function spanOf(cursor: ManifestComponent, key: string, scope: TemplateScope): string | undefined {
  const text = textOf(cursor, key, scope);
  if (text === undefined) return undefined;
  const words = durationWords(text);
  if (words === undefined) throw new TemplateError(`the duration “${text}”`);
  if (words === '0 seconds') return undefined;
  const fraction = /^PT(0?\.\d+)S$/.exec(text.trim())?.[1];
  // A microsecond is the least that windows and the other tool tell apart.
  return fraction === undefined
    ? words
    : counted(Math.max(1, Math.round(Number(fraction) * 1e6)), 'microsecond');
}

/** Formats that every reader of dates knows. */
const USUAL = /^%Y-%m-%d(?:[T ]%H:%M(?::%S(?:\.%(?:f|_ms))?)?(?:%z|Z|\+00:?00)?)?$/;

/** Converts a time: a date as text, seconds since 1970, or a function. */
function momentOf(
  cursor: ManifestComponent,
  key: string,
  cursorFormat: string,
  scope: TemplateScope,
): TranslatedJson | undefined {
  if (!cursor.has(key)) return undefined;
  const inner = cursor.child(key);
  if (inner === undefined) return dated(cursor.get(key) ?? '', cursor, cursorFormat, scope);
  const format = textOf(inner, 'datetime_format', scope) ?? cursorFormat;
  const moment = dated(inner.get('datetime') ?? '', inner, format, scope);
  const [least, most] = [inner.get('min_datetime'), inner.get('max_datetime')];
  if (least === undefined && most === undefined) return moment;
  let out: TranslatedJson = secondsOf(moment);
  if (least !== undefined) out = call('max', out, secondsOf(dated(least, inner, format, scope)));
  if (most !== undefined) out = call('min', out, secondsOf(dated(most, inner, format, scope)));
  return out;
}

/** Parts of a second that times since 1970 are counted in. */
const PARTS: Readonly<Record<string, number>> = { '%ms': 1000, '%epoch_microseconds': 1_000_000 };

function dated(
  value: ManifestNode,
  component: ManifestComponent,
  format: string,
  scope: TemplateScope,
): TranslatedJson {
  const { out, type } = translated(value, component, scope, requestPosition(scope, 'the time of the cursor'));
  const isUsual = USUAL.test(format);
  if (type === 'seconds' || type === 'day' || (isUsual && !hasFraction(format))) return out;
  if (format === '%s' && typeof out === 'number') return out;
  // what was written in this very format a moment ago
  if (isMap(out) && out['function'] === 'date' && isSequence(out['args'])) {
    const [written, moment, ...zone] = out['args'];
    if (written === phpFormat(format) && moment !== undefined && zone.length === 0) return moment;
  }
  if (isUsual || (typeof out === 'string' && /^\d{4}-\d{2}-\d{2}/.test(out))) return out;
  const parts = PARTS[format];
  if (parts !== undefined) {
    const isKnown = typeof out === 'number' || (typeof out === 'string' && /^\d+$/.test(out));
    return isKnown ? Number(out) / parts : call('divide', out, parts);
  }
  return call('parse_date', out, phpFormat(format), null, call('strtotime', out));
}

function secondsOf(out: TranslatedJson): TranslatedJson {
  return isNumeric(out) ? out : call('strtotime', out);
}

/** Tells if times are numbers since 1970, whose unit is seen by their size. */
function isSince1970(format: string): boolean {
  return ['%s', '%s_as_float', '%ms', '%epoch_microseconds'].includes(format);
}

/** Returns a source that is a path alone as its text. */
export function plainPath(source: TranslatedJson): TranslatedJson {
  const path = isMap(source) && Object.keys(source).length === 1 ? source['path'] : undefined;
  return typeof path === 'string' ? path : source;
}

/** Returns the formats that values of the cursor may have: that of the state is the last one that is tried. */
function cursorFormats(cursor: ManifestComponent, format: string): readonly string[] {
  const listed = cursor.get('cursor_datetime_formats');
  return [...new Set([...(isSequence(listed) ? listed.map(String) : []), format])];
}

/** Returns how the values are written that move the state. */
function formOf(cursor: ManifestComponent, format: string): Readonly<Record<string, TranslatedJson>> {
  const written = cursorFormats(cursor, format).map((one) => (isSince1970(one) ? 'epoch' : phpFormat(one)));
  const [only = '', ...others] = new Set(written);
  return { cursorFormat: others.length === 0 ? only : [only, ...others] };
}

/**
 * Returns what reads the field whose newest value is the state: an unusual form is read by its format, and several by
 * the first that fits.
 */
function cursorReader(cursor: ManifestComponent, format: string): (field: TranslatedJson) => TranslatedJson {
  const all = cursorFormats(cursor, format);
  if (all.every((one) => USUAL.test(one) || isSince1970(one))) return (field) => field;
  const [first = '', ...others] = all.map(phpFormat).reverse();
  return (field) =>
    others.reduce(
      (otherwise, one) => call('parse_date', field, one, null, otherwise),
      others.length === 0 ? call('parse_date', field, first) : call('parse_date', field, first, null, ''),
    );
}
