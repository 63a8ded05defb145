import type { Log, LogFields } from './log.ts';

/** Log of a caller that gives none: warnings and errors on stderr, one line each. */
const quietLog: Log = {
  debug() {},
  info() {},
  warn: (message, fields) => void process.stderr.write(`warning: ${withFacts(message, fields)}\n`),
  error: (message, fields) => void process.stderr.write(`error: ${withFacts(message, fields)}\n`),
};

/** Console of the platform as a log: lines with their facts in words, and no internals. */
const consoleLog: Log = {
  debug() {},
  info: (message, fields) => console.info(withFacts(message, fields)),
  warn: (message, fields) => console.warn(withFacts(message, fields)),
  error: (message, fields) => console.error(withFacts(message, fields)),
};

/** Returns the log for the `log` option of a caller: nothing, `console`, or a log of its own. */
export function logOf(given: Log | undefined): Log {
  if (given === undefined) return quietLog;
  return given === console ? consoleLog : given;
}

/** Formats `message (job users, page 2)`: numbers, booleans, and texts that the message does not contain. */
function withFacts(message: string, fields: LogFields = {}): string {
  const facts = Object.entries(fields).filter(([, value]) =>
    typeof value === 'string'
      ? !message.includes(value)
      : typeof value === 'number' || typeof value === 'boolean',
  );
  if (facts.length === 0) return message;
  return `${message} (${facts.map(([name, value]) => `${name} ${String(value)}`).join(', ')})`;
}
