import { shownText } from '../../../src/lib/shown-text.ts';
import type { Alert, AlertKind } from '../../data/client.ts';
import { nameOf, type SourceRef } from '../../data/sources.ts';
import { at } from '../../route/router.ts';
import { plural } from '../../ui/values.tsx';

/** Kinds of alerts, in the order in which they are offered. */
export const KINDS: readonly { readonly kind: AlertKind; readonly word: string; readonly text: string }[] = [
  { kind: 'failed', word: 'failed', text: 'A run failed' },
  { kind: 'doubtful', word: 'in doubt', text: 'Tables may not have everything' },
  { kind: 'late', word: 'late', text: 'A source with a schedule loaded nothing for long' },
  {
    kind: 'unusual',
    word: 'unusual numbers',
    text: 'Rows, pages or the end of a job are not as in the runs before',
  },
  { kind: 'stale', word: 'old values', text: 'The newest time in a column is old' },
  { kind: 'ending', word: 'ends soon', text: 'A token or a login ends soon' },
];

const WORDS = new Map<string, string>(KINDS.map(({ kind, word }) => [kind, word]));

/** Returns a kind, or the event of a message, in words. */
export const wordOf = (event: string): string => WORDS.get(event) ?? event;

export type Wrong = Alert['wrong'][number];

/** Returns the name of what is wrong, and the page to look at. */
export function subjectOf(
  { component, configuration, table, column, token, run }: Wrong,
  sources: readonly SourceRef[] | undefined,
): { readonly text: string; readonly to: string } {
  if (table !== undefined) return { text: `${table}, ${shownText(column ?? '')}`, to: at`/tables/${table}` };
  if (token !== undefined) return { text: `Token ${token}`, to: at`/tokens/${token}` };
  const [ofComponent, ofConfiguration] = [component ?? '', configuration ?? ''];
  return {
    text: nameOf(sources, ofComponent, ofConfiguration),
    to: run === null ? at`/sources/${ofComponent}/${ofConfiguration}` : at`/runs/${run}`,
  };
}

/** Tells whether an alert is silent now. */
export const isMuted = ({ mutedUntil }: Alert): boolean =>
  mutedUntil !== null && Date.parse(mutedUntil.replace('+0000', 'Z')) > Date.now();

const HOUR = 60;
const DAY = 24 * HOUR;

/** Returns minutes in the largest unit that leaves no rest. */
export function minutesText(minutes: number): string {
  if (minutes % DAY === 0) return plural(minutes / DAY, 'day');
  return minutes % HOUR === 0 ? plural(minutes / HOUR, 'hour') : plural(minutes, 'minute');
}

/** Returns what an alert is about, in words. */
export const scopeOf = (
  { component, configuration }: Alert,
  sources: readonly SourceRef[] | undefined,
): string =>
  component === null
    ? 'All sources'
    : configuration === null
      ? `Sources of ${shownText(component)}`
      : nameOf(sources, component, configuration);
