import { time } from '../storage/facts.ts';

/** Formats the time between two times of the service: `850 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`. Empty until both are there. */
export function took(from: string | null, to: string | null): string {
  if (from === null || to === null) return '';
  const ms = Date.parse(time(to)) - Date.parse(time(from));
  return Number.isNaN(ms) ? '' : duration(ms);
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
