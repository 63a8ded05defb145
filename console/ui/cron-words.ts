import cronstrue from 'cronstrue';

/** A schedule as people say it; every other one is written as cron has it. */
export type Rhythm =
  | { readonly kind: 'minutes'; readonly every: number }
  | { readonly kind: 'hourly'; readonly minute: number }
  | { readonly kind: 'daily'; readonly time: string }
  | { readonly kind: 'workdays'; readonly time: string }
  | { readonly kind: 'weekly'; readonly time: string; readonly day: number }
  | { readonly kind: 'monthly'; readonly time: string; readonly day: number }
  | { readonly kind: 'own'; readonly cron: string };

export const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

export function cronOf(rhythm: Rhythm): string {
  switch (rhythm.kind) {
    case 'minutes':
      return `*/${rhythm.every} * * * *`;
    case 'hourly':
      return `${rhythm.minute} * * * *`;
    case 'daily':
      return `${clockOf(rhythm.time)} * * *`;
    case 'workdays':
      return `${clockOf(rhythm.time)} * * 1-5`;
    case 'weekly':
      return `${clockOf(rhythm.time)} * * ${rhythm.day}`;
    case 'monthly':
      return `${clockOf(rhythm.time)} ${rhythm.day} * *`;
    default:
      return rhythm.cron.trim();
  }
}

/** Converts `06:30` to `30 6`. */
function clockOf(time: string): string {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return `${minute || 0} ${hour || 0}`;
}

const NAMED: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
};

export function rhythmOf(cron: string): Rhythm {
  const own: Rhythm = { kind: 'own', cron };
  const parts = (NAMED[cron.trim().toLowerCase()] ?? cron).trim().split(/\s+/);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = parts;
  if (parts.length !== 5 || month !== '*') return own;
  const every = minute === '*' ? '1' : /^\*\/(\d{1,2})$/.exec(minute)?.[1];
  if (every !== undefined && hour === '*' && day === '*' && weekday === '*')
    return 60 % Number(every) === 0 ? { kind: 'minutes', every: Number(every) } : own;
  if (!/^\d{1,2}$/.test(minute)) return own;
  if (hour === '*' && day === '*' && weekday === '*') return { kind: 'hourly', minute: Number(minute) };
  if (!/^\d{1,2}$/.test(hour)) return own;
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  if (day === '*' && weekday === '*') return { kind: 'daily', time };
  if (day === '*' && weekday === '1-5') return { kind: 'workdays', time };
  if (day === '*' && /^[0-7]$/.test(weekday)) return { kind: 'weekly', time, day: Number(weekday) % 7 };
  if (/^\d{1,2}$/.test(day) && weekday === '*') return { kind: 'monthly', time, day: Number(day) };
  return own;
}

/** Describes a schedule: “Every day at 06:30”. */
export function cronText(cron: string): string {
  const rhythm = rhythmOf(cron);
  switch (rhythm.kind) {
    case 'minutes':
      return rhythm.every === 1 ? 'Every minute' : `Every ${rhythm.every} minutes`;
    case 'hourly':
      return rhythm.minute === 0 ? 'Every full hour' : `Every hour, ${rhythm.minute} minutes past`;
    case 'daily':
      return `Every day at ${rhythm.time}`;
    case 'workdays':
      return `Monday to Friday at ${rhythm.time}`;
    case 'weekly':
      return `Every ${DAYS[rhythm.day] ?? 'week'} at ${rhythm.time}`;
    case 'monthly':
      return `Day ${rhythm.day} of every month at ${rhythm.time}`;
    default:
      return ownText(rhythm.cron.trim());
  }
}

/** Describes what no rhythm of the form says: “At 06:00 and 18:00”. */
function ownText(cron: string): string {
  try {
    const words = cronstrue.toString(cron, { use24HourTimeFormat: true });
    // Each hour, and each day, begins such steps anew: `*/7` is not every 7 minutes at its end.
    return isUneven(cron) ? `${words} (${cron})` : words;
  } catch {
    return `By the cron expression ${cron}`;
  }
}

function isUneven(cron: string): boolean {
  const [minute, hour] = cron.split(/\s+/).map((field) => Number(/\/(\d+)$/.exec(field)?.[1] ?? 1));
  return 60 % (minute ?? 1) !== 0 || 24 % (hour ?? 1) !== 0;
}
