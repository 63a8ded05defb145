import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { IconButton } from './button.tsx';
import type { IconName } from './icon.tsx';
import { shownText } from '../../src/lib/shown-text.ts';
import './values.css';

/** Shows a text from outside: its direction stays its own, and control characters are shown escaped. */
export function Text({ children }: { readonly children: string }) {
  return <bdi>{shownText(children)}</bdi>;
}

/** Description of the token that commands on the machine of the service have without being given one. */
const OF_COMMANDS = 'Commands on this machine';

/** Names the token that something was done with. */
export function By({ token }: { readonly token: { readonly description: string } }) {
  if (token.description !== OF_COMMANDS) return <Text>{token.description}</Text>;
  return <span title="A command such as gex run, on the machine of the service">gex, on the server</span>;
}

const COUNT = new Intl.NumberFormat('en');
const FRACTION = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

export function countText(value: number): string {
  return COUNT.format(value);
}

/** Formats a count: `1 row`, `2,000 rows`. */
export const plural = (count: number, noun: string): string =>
  `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;

export function Count({ value }: { readonly value: number }) {
  return <span class="number">{countText(value)}</span>;
}

export function bytesText(value: number): string {
  let size = value;
  let unit = 0;
  // As it will be shown: 999,960 bytes are not 1,000 kB.
  while (tenths(size) >= 1000 && unit < UNITS.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${FRACTION.format(size)} ${UNITS[unit] ?? ''}`;
}

const tenths = (value: number): number => Math.round(value * 10) / 10;

export function Bytes({ value }: { readonly value: number }) {
  return (
    <span class="number" title={`${countText(value)} bytes`}>
      {bytesText(value)}
    </span>
  );
}

// “Tomorrow” would be any time up to two days ahead.
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'always' });
const ABSOLUTE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const STEPS: readonly (readonly [seconds: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [31_536_000, 'year'],
  [2_592_000, 'month'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
];

/** Returns an age in full units, or the time that is left to the nearest one: a time 2.8 days ahead is not “in 2 days”. */
export function relativeText(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  const full = seconds < 0 ? Math.trunc : Math.round;
  for (const [index, [size, unit]] of STEPS.entries()) {
    // An hour, which would be rounded up to “in 60 minutes”.
    const least = seconds < 0 ? size : size - (STEPS[index + 1]?.[0] ?? 1) / 2;
    if (Math.abs(seconds) >= least) return RELATIVE.format(full(seconds / size), unit);
  }
  return seconds > -5 && seconds < 5 ? 'now' : RELATIVE.format(Math.trunc(seconds), 'second');
}

/** Parses a time. The service leaves the colon out of its zones, which Safari does not read. */
export function timeOf(text: string): number {
  return Date.parse(text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
}

/** Shows the age of a time; the time itself is a tooltip. */
export function RelativeTime({ value }: { readonly value: string | null | undefined }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  const time = timeOf(value ?? '');
  if (Number.isNaN(time)) return <span class="muted">–</span>;
  return (
    <time class="number" dateTime={new Date(time).toISOString()} title={ABSOLUTE.format(time)}>
      {relativeText(time - Math.max(now, Date.now()))}
    </time>
  );
}

/** Formats a time to the second by the clocks of the browser: `3 Jun 2026, 12:00:00`. */
export const exactTime = (value: string): string => ABSOLUTE.format(timeOf(value));

/** Formats a duration: `1 h 2 min`, `3.4 s`, `120 ms`. */
export function durationText(milliseconds: number): string {
  const rounded = Math.round(milliseconds);
  if (rounded < 1000) return `${rounded} ms`;
  const seconds = tenths(milliseconds / 1000);
  if (seconds < 60) return `${FRACTION.format(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return parts([minutes, 'min'], [Math.floor(seconds % 60), 's']);
  return parts([Math.floor(minutes / 60), 'h'], [minutes % 60, 'min']);
}

/** Writes a time in two units, and in one where nothing of the other is left. */
function parts(...units: readonly (readonly [number, string])[]): string {
  return units
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

export function CopyButton({
  text,
  label = 'Copy',
  icon = 'copy',
}: {
  readonly text: string;
  readonly label?: string;
  readonly icon?: IconName;
}) {
  const [isCopied, setCopied] = useState(false);
  return (
    <IconButton
      icon={isCopied ? 'check' : icon}
      label={isCopied ? 'Copied' : label}
      onPress={() => {
        void navigator.clipboard.writeText(text).then(() => {
          setCopied(true);
          setTimeout(() => setCopied(false), 1500);
        });
      }}
    />
  );
}

/** Lists names and values. */
export function KeyValue({
  items,
}: {
  readonly items: readonly (readonly [name: string, value: ComponentChildren])[];
}) {
  return (
    <dl class="key-value">
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
