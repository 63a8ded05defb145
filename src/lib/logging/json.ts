import { shownLines } from '../shown-text.ts';
import type { WriteEvent } from './log.ts';

/**
 * Writes one JSON object for each event:
 * `{"level":"warn","time":"2026-01-02T03:04:05.000Z","job":"users","message":"…"}`.
 */
export function jsonEvents(write: (line: string) => void): WriteEvent {
  return (level, message, fields) => {
    const event = { level, time: new Date().toISOString(), ...fields, message };
    write(`${shownLines(JSON.stringify(event))}\n`);
  };
}
