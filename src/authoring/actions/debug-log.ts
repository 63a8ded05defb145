import type { Log, LogFields } from '../../lib/log.ts';
import type { Secrets } from '../../lib/secrets.ts';

export interface DebugLog {
  readonly log: Log;
  /** All lines up to now, secrets hidden. */
  readonly text: () => string;
}

/** Most characters of a log that is part of a result; its end is kept. */
const MAX_LENGTH = 200_000;

/** Keeps the lines of a log in memory, for the result of an action, and hands them on. */
export function createDebugLog(secrets: Secrets, next: Log): DebugLog {
  const lines: string[] = [];
  const at =
    (level: keyof Log) =>
    (message: string, fields?: LogFields): void => {
      lines.push(
        `${level.toUpperCase()} ${message}${fields === undefined ? '' : ` ${JSON.stringify(fields)}`}`,
      );
      next[level](secrets.redact(message), fields);
    };
  return {
    log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    text: () => {
      const text = secrets.redact(lines.join('\n'));
      return text.length <= MAX_LENGTH ? text : `…${text.slice(-MAX_LENGTH)}`;
    },
  };
}
