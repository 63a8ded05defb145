import type { Log, LogFields } from '../log.ts';
import { redactFields } from '../redact.ts';
import type { Secrets } from '../secrets.ts';

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof LEVELS)[number];

/** Log whose level can be changed while it is in use. */
export interface LeveledLog extends Log {
  setLevel(level: Level): void;
}

/** Writes one event, which is free of secrets. */
export type WriteEvent = (level: Level, message: string, fields: LogFields) => void;

/** Creates a log that hides secrets and drops events below its level. */
export function createLog(
  write: WriteEvent,
  options: { readonly level: Level; readonly secrets: Secrets },
): LeveledLog {
  const { secrets } = options;
  let lowest = LEVELS.indexOf(options.level);
  const at =
    (level: Level) =>
    (message: string, fields: LogFields = {}) => {
      if (LEVELS.indexOf(level) < lowest) return;
      write(level, secrets.redactMessage(message), redactFields(fields, secrets));
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    setLevel: (level) => {
      lowest = LEVELS.indexOf(level);
    },
  };
}
