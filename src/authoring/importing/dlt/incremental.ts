import { convertOf } from './convert.ts';
import { Untaken } from './findings.ts';
import { scalarOut } from './out.ts';
import { hasPrimaryKey } from './hints.ts';
import { pathOf } from './paths.ts';
import type { Resource } from './resources.ts';
import type { SourceSettings } from './dlt-settings.ts';
import { isList, PythonCall, type TranslatedValue, type Value, ValueMap } from './value.ts';

/** The incremental reading of a resource. */
export interface ResourceIncremental {
  readonly cursor: string;
  /** `incremental` of the job; undefined for a fixed stretch, which keeps no state. */
  readonly incremental: Readonly<Record<string, TranslatedValue>> | undefined;
  /** Rows that are kept besides. */
  readonly where: readonly TranslatedValue[];
  /** Parameters of the request, by their names. */
  readonly params: Readonly<Record<string, TranslatedValue>>;
  /** Values of `{incremental.…}`. */
  readonly fields: Readonly<Record<string, TranslatedValue | undefined>>;
  readonly notes: readonly string[];
  /** In words: rows that are written here, and not there. */
  readonly again: readonly string[];
  /** In words: how rows may be others. */
  readonly other: readonly string[];
}

const KEYS = new Set([
  'type',
  'cursor_path',
  'initial_value',
  'end_value',
  'start_param',
  'end_param',
  'convert',
  'transform',
  'primary_key',
  'row_order',
  'lag',
  'last_value_func',
  'on_cursor_value_missing',
  'range_start',
  'range_end',
  'allow_external_schedulers',
]);

/** Parameters of `incremental(…)` in their order. */
const POSITIONS = [
  'cursor_path',
  'initial_value',
  'last_value_func',
  'primary_key',
  'end_value',
  'row_order',
  'allow_external_schedulers',
  'on_cursor_value_missing',
  'lag',
  'range_start',
  'range_end',
];

/** Reads the incremental of a resource: that of a parameter, or of the endpoint. @throws {Untaken} */
export function readIncremental(
  resource: Resource,
  settings: SourceSettings,
): ResourceIncremental | undefined {
  const found = [...resource.params.entries].flatMap(([name, value]) => {
    const options = optionsOf(value);
    return options === undefined ? [] : [{ name, options }];
  });
  if (found.length > 1) throw new Untaken('several incremental parameters');
  const [param] = found;
  const own = resource.endpoint.get('incremental');
  const hasKey = hasPrimaryKey(resource);
  if (param !== undefined) return draft(param.options, param.name, undefined, settings, hasKey);
  if (own === undefined || own === null) return undefined;
  const options = own instanceof ValueMap ? own : optionsOf(own);
  if (options === undefined) throw new Untaken('an incremental that is Python code', own);
  return draft(options, nameIn(options, 'start_param'), nameIn(options, 'end_param'), settings, hasKey);
}

/** Tells if a parameter is an incremental one. */
export function isIncrementalParam(value: Value): boolean {
  return optionsOf(value) !== undefined;
}

function optionsOf(value: Value): ValueMap | undefined {
  if (value instanceof ValueMap && value.get('type') === 'incremental') return value;
  if (!(value instanceof PythonCall) || !/^[iI]ncremental$/.test(value.name)) return undefined;
  const given = value.args.map((item, i) => [POSITIONS[i] ?? '', item] as const);
  return new ValueMap([...given, ...value.keywords.entries], value.keywords.open);
}

function nameIn(options: ValueMap, key: string): string | undefined {
  const value = options.get(key);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw new Untaken(`“${key}” that is no text`, value);
}

function draft(
  options: ValueMap,
  startParam: string | undefined,
  endParam: string | undefined,
  settings: SourceSettings,
  hasTableKey: boolean,
): ResourceIncremental {
  const [open] = options.open;
  if (open !== undefined) throw new Untaken('an incremental with options that code makes', open);
  const strange = [...options.entries.keys()].find((key) => !KEYS.has(key));
  if (strange !== undefined) throw new Untaken(`“${strange}” of the incremental`, options.get(strange));
  const largest = options.get('last_value_func');
  if (largest !== undefined && largest !== null && largest !== 'max' && !isNamed(largest, 'max'))
    throw new Untaken('a state that is not the largest value', largest);
  const cursor = pathOf(options.get('cursor_path') ?? '$', 'cursor_path');
  if (cursor === '.' || cursor.startsWith('$'))
    throw new Untaken('a cursor that is no field', options.get('cursor_path'));
  const first = valueIn(options, 'initial_value', settings);
  const end = valueIn(options, 'end_value', settings);
  // the older name counts first
  const code = options.get('transform') ?? options.get('convert') ?? undefined;
  const convert = code === undefined ? undefined : convertOf(code, first);
  const sent = (value: TranslatedValue): TranslatedValue => (convert === undefined ? value : convert(value));
  const isOpen = options.get('range_start') === 'open';
  const isClosedEnd = options.get('range_end') === 'closed';
  // there, texts are compared by their letters, whatever they say
  const as = isText(first) ? { as: 'text' } : {};
  const notes: string[] = [];
  const missing = options.get('on_cursor_value_missing') ?? 'raise';
  if (missing === 'raise') notes.push(`A row without “${cursor}” is an error there, and is kept here.`);
  const present = missing === 'exclude' ? [{ value: cursor, is: 'present' }] : [];
  if (end !== undefined) {
    if (first === undefined) throw new Untaken('an end without a beginning', options.get('end_value'));
    const params = {
      ...(startParam === undefined ? {} : { [startParam]: sent(first) }),
      ...(endParam === undefined ? {} : { [endParam]: sent(end) }),
    };
    return {
      cursor,
      incremental: undefined,
      where: [
        ...present,
        orAbsent(cursor, { value: cursor, is: isOpen ? 'above' : 'atLeast', than: first, ...as }),
        orAbsent(cursor, { value: cursor, is: isClosedEnd ? 'atMost' : 'below', than: end, ...as }),
      ],
      params,
      fields: {
        start_value: sent(first),
        last_value: sent(first),
        initial_value: sent(first),
        end_value: sent(end),
      },
      notes: [
        ...notes,
        'It has an end, so that every run reads the same stretch and no state is kept, there and here.',
      ],
      again: [],
      other: [],
    };
  }
  const lag = options.get('lag');
  if (lag !== undefined && lag !== null && typeof lag !== 'number')
    throw new Untaken('a lag that is no number', lag);
  const isLagging = typeof lag === 'number' && lag !== 0;
  const behind =
    isOpen && first !== undefined
      ? [orAbsent(cursor, { value: cursor, is: 'above', than: first, ...as })]
      : [];
  const begin = sent({ state: 'cursor' });
  const key = options.get('primary_key');
  const hasKey = key === undefined || key === null ? hasTableKey : true;
  const isDeduplicated = !isOpen && !isLagging && !(isList(key) && key.length === 0);
  return {
    cursor,
    incremental: {
      cursor,
      ...(first === undefined ? {} : { first }),
      ...(isLagging
        ? { lookback: lookbackOf(lag, first), ...(first === undefined ? {} : { notBefore: first }) }
        : as),
      ...(startParam === undefined || convert !== undefined ? {} : { to: { query: startParam } }),
      // rows before the state are dropped there, too, whatever the API gives
      filter: true,
      // with a lag the rows at the state come again there, too
      ...(isDeduplicated ? { equal: 'new' } : isOpen && !isLagging ? { equal: 'drop' } : {}),
      ...(options.get('row_order') === 'desc' ? { order: 'descending' } : {}),
    },
    // the first run leaves out rows at the beginning, too
    where: [...present, ...behind],
    params: startParam === undefined || convert === undefined ? {} : { [startParam]: begin },
    fields: {
      start_value: begin,
      last_value: begin,
      initial_value: first === undefined ? undefined : sent(first),
    },
    notes,
    again: [
      ...(isOpen && isLagging
        ? ['Rows at the very value that the lag leads back to are left out there, and written here.']
        : []),
      ...(isDeduplicated && hasKey
        ? [
            'A row at the newest value of the last run that comes again is left out there by its primary key; here it is written where it has changed.',
          ]
        : []),
    ],
    other:
      isLagging && first === undefined
        ? ['The lag is in seconds here; there it is in days where the values are days.']
        : [],
  };
}

/** Tells if a beginning is a text in every run. */
function isText(first: TranslatedValue | undefined): boolean {
  return (
    typeof first === 'string' ||
    (typeof first === 'object' && first !== null && 'function' in first && first['function'] === 'date')
  );
}

/** Returns the lookback of a lag: it is in days for days, else in seconds, and a number for numbers. */
function lookbackOf(lag: number, first: TranslatedValue | undefined): TranslatedValue {
  if (typeof first === 'number') return lag;
  return typeof first === 'string' && /^\d{4}-?\d{2}-?\d{2}$/.test(first) ? `${lag} days` : `${lag} seconds`;
}

function orAbsent(cursor: string, condition: TranslatedValue): TranslatedValue {
  return { any: [{ value: cursor, is: 'absent' }, condition] };
}

function isNamed(value: Value, name: string): boolean {
  return typeof value === 'object' && value !== null && 'text' in value && value.text === name;
}

function valueIn(options: ValueMap, key: string, settings: SourceSettings): TranslatedValue | undefined {
  const value = options.get(key);
  if (value === undefined || value === null) return undefined;
  return scalarOut(value, settings) ?? undefined;
}
