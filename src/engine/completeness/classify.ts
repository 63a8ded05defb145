import { remember } from '../../lib/remember.ts';
import { canonical } from './names.ts';
import {
  BEGIN_NAMES,
  END_NAMES,
  ERROR_NAMES,
  FAILURE_NAMES,
  MESSAGE_NAMES,
  MORE_NAMES,
  NEXT,
  NEXT_COMPANIONS,
  NEXT_NAMES,
  OFFSET_NAMES,
  PAGE_NAMES,
  PAGES_NAMES,
  PARTIAL_NAMES,
  POSITION_NAMES,
  PREVIOUS,
  REMAINING_NAMES,
  SIZE_NAMES,
  STATE_NAMES,
  SUCCESS_NAMES,
  TOTAL_NAMES,
  TOTAL_NOUNS,
  WEAK_NEXT_NAMES,
  WEAK_TOTAL_NAMES,
  type Strength,
} from './signs.ts';

/** Topic of a name; its value decides whether it counts. */
export type Topic =
  | 'next'
  | 'previous'
  | 'begin'
  | 'more'
  | 'end'
  | 'total'
  | 'remaining'
  | 'pages'
  | 'page'
  | 'size'
  | 'offset'
  | 'position'
  | 'error'
  | 'success'
  | 'failure'
  | 'state'
  | 'message'
  | 'partial';

export interface Meaning {
  readonly topic: Topic;
  readonly strength: Strength;
}

/**
 * Returns the meanings of a property's name about pages. A name may have several, such as `last_page`, which is a
 * number of pages or a flag.
 */
export const meaningsOf = remember(readMeanings);

function readMeanings(name: string): readonly Meaning[] {
  const key = canonical(name);
  const known = NAMED.get(key) ?? NAMED.get(key.replaceAll('_', ''));
  if (known !== undefined) return known;
  const parts = key.split('_');
  if (isAround(parts, NEXT)) return NEXT_MEANINGS;
  if (isAround(parts, PREVIOUS)) return PREVIOUS_MEANINGS;
  if (parts.length > 1 && parts.includes('total') && parts.every((part) => TOTAL_WORDS.has(part)))
    return TOTAL_MEANINGS;
  // `filtered_table_rows_count`
  return parts.length > 2 && parts.at(-1) === 'count' && parts.every((part) => COUNT_WORDS.has(part))
    ? COUNT_MEANINGS
    : [];
}

const COMPANIONS = new Set(NEXT_COMPANIONS);
const TOTAL_WORDS = new Set(['total', ...TOTAL_NOUNS]);
const COUNT_WORDS = new Set(['table', ...TOTAL_NOUNS]);
// A flag as well: `next: true`.
const NEXT_MEANINGS: readonly Meaning[] = [{ topic: 'next', strength: 'strong' }];
const PREVIOUS_MEANINGS: readonly Meaning[] = [{ topic: 'previous', strength: 'strong' }];
const TOTAL_MEANINGS: readonly Meaning[] = [{ topic: 'total', strength: 'strong' }];
const COUNT_MEANINGS: readonly Meaning[] = [{ topic: 'total', strength: 'weak' }];

/** Tells whether a name consists of one of the words and companions only. */
function isAround(parts: readonly string[], around: readonly string[]): boolean {
  return (
    parts.some((part) => around.includes(part)) &&
    parts.every((part) => around.includes(part) || COMPANIONS.has(part))
  );
}

const NAMED = new Map<string, Meaning[]>();

function add(names: readonly string[], topic: Topic, strength: Strength = 'strong'): void {
  for (const name of names) {
    // `haslastpage` is `has_last_page` written by someone else
    for (const key of new Set([name, name.replaceAll('_', '')])) {
      const before = NAMED.get(key) ?? [];
      if (before.some((meaning) => meaning.topic === topic)) continue;
      NAMED.set(key, [...before, { topic, strength }]);
    }
  }
}

add(['total'], 'total', 'plain');
add(TOTAL_NAMES, 'total');
add(WEAK_TOTAL_NAMES, 'total', 'weak');
add(NEXT_NAMES, 'next');
add(WEAK_NEXT_NAMES, 'next', 'weak');
add(
  [
    'next_page',
    'next_token',
    'next_cursor',
    'next_link',
    'next_url',
    'next_offset',
    'next_page_token',
    'next_records_url',
    'continuation_token',
  ],
  'next',
);
add(['has_previous', 'has_previous_page', 'has_prev', 'has_prev_page'], 'previous');
add(BEGIN_NAMES, 'begin');
add(MORE_NAMES, 'more');
add(END_NAMES, 'end');
add(REMAINING_NAMES, 'remaining');
add(PAGES_NAMES, 'pages');
add(PAGE_NAMES, 'page');
add(SIZE_NAMES, 'size');
add(OFFSET_NAMES, 'offset');
add(POSITION_NAMES, 'position');
add(ERROR_NAMES, 'error');
add(SUCCESS_NAMES, 'success');
add(FAILURE_NAMES, 'failure');
add(STATE_NAMES, 'state');
add(MESSAGE_NAMES, 'message');
add(PARTIAL_NAMES, 'partial');
