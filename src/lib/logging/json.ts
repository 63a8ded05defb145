import { pino, stdTimeFunctions } from 'pino';
import { shownLines } from '../shown-text.ts';
import type { WriteEvent } from './log.ts';

/**
 * Writes one JSON object for each event:
 * `{"level":"warn","time":"2026-01-02T03:04:05.000Z","job":"users","message":"…"}`.
 *
 * It has a module of its own because loading pino takes a tenth of a short run.
 */
export function jsonEvents(write: (line: string) => void): WriteEvent {
  const options = {
    level: 'debug',
    base: null,
    messageKey: 'message',
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const logger = pino(options, { write: (line) => write(shownLines(line)) });
  return (level, message, fields) => logger[level](fields, message);
}
