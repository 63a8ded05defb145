import type { Job } from '../../data/client.ts';
import { STATUS_TEXTS } from '../../data/job-words.ts';
import { Badge, type Tone } from '../../ui/states.tsx';
import { durationText, timeOf } from '../../ui/values.tsx';

const TONES: Readonly<Record<string, Tone>> = { success: 'good', error: 'bad', processing: 'active' };

export function JobStatus({ status }: Pick<Job, 'status'>) {
  return <Badge tone={TONES[status] ?? 'neutral'}>{STATUS_TEXTS[status] ?? status}</Badge>;
}

/** Formats the duration of a job, so far if it still runs. */
export function tookText({ startTime, endTime }: Job): string {
  if (startTime === null) return '–';
  const end = endTime === null ? Date.now() : timeOf(endTime);
  const tookMs = end - timeOf(startTime);
  // The service tells whole seconds.
  return tookMs < 1000 ? 'under 1 s' : durationText(tookMs);
}

export const isOver = ({ status }: Job): boolean => status !== 'waiting' && status !== 'processing';
