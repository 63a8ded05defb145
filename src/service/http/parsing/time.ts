import { readTime } from '../../../storage/protocol/read-time.ts';
import { invalidField } from '../../domain/api-error.ts';

/** Returns the time that a parameter means, in milliseconds since 1970. @throws {ApiError} 400 for what is no time */
export function timeOf(key: string, text: string, now: number): number {
  const time = readTime(text, now);
  if (time !== undefined) return time.getTime();
  const message = `"${text}" is no time: write one such as 2026-03-01T18:00:00Z.`;
  throw invalidField('storage.validation', key, message);
}
