import { ExtractorError } from './errors.ts';
import type { Log, LogFields } from './log.ts';
import { Secrets } from './secrets.ts';
import { oneLine } from './shown-text.ts';

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
function logOf(given: Log | undefined): Log {
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

/**
 * Runs work that knows secrets, and removes them from its log lines and from its error: all that are known at that
 * time. The caller needs to do nothing.
 */
export async function withRedaction<
  T extends { readonly log?: Log | undefined; readonly secrets?: Secrets },
  R,
>(
  options: T,
  work: (options: T & { readonly secrets: Secrets; readonly log: Log }) => Promise<R>,
): Promise<R> {
  const { log, secrets = new Secrets() } = options;
  try {
    return await work({ ...options, secrets, log: redactingLog(logOf(log), secrets) });
  } catch (error) {
    throw redactError(error, secrets);
  }
}

/** Wraps a log: it gets every event as one line and without the secrets known at that time. */
function redactingLog(log: Log, secrets: Secrets): Log {
  const at =
    (level: keyof Log) =>
    (message: string, fields?: LogFields): void => {
      const line = oneLine(secrets.redactMessage(message));
      if (fields === undefined) log[level](line);
      else log[level](line, redactFields(fields, secrets));
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export function redactFields(fields: LogFields, secrets: Secrets): LogFields {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, redactValue(value, secrets)]));
}

/**
 * Removes the secrets from an error and its causes, and returns the same object. An error may be thrown before its
 * maker knew a secret, and those of the platform know none.
 */
function redactError(error: unknown, secrets: Secrets): unknown {
  let at = error;
  for (let depth = 0; at instanceof Error && depth < MAX_CAUSES; depth++) {
    hideAt(at, 'message', secrets);
    hideAt(at, 'stack', secrets);
    hideFacts(at, secrets);
    if (at instanceof ExtractorError) {
      const { hint, where, details } = at;
      Object.assign(at, {
        hint: hint === undefined ? undefined : secrets.redactMessage(hint),
        where: redactFields({ ...where }, secrets),
        details: redactFields(details, secrets),
      });
    }
    at = at.cause;
  }
  return error;
}

const MAX_CAUSES = 10;

/**
 * Redacts one property of an error. Some errors of the platform have a message that cannot be set; an own property then
 * shadows it.
 */
function hideAt(error: Error, name: 'message' | 'stack', secrets: Secrets): void {
  const text = error[name];
  if (text === undefined) return;
  const open = secrets.redactMessage(text);
  if (open !== text)
    Object.defineProperty(error, name, {
      value: open,
      configurable: true,
      writable: true,
      enumerable: false,
    });
}

/** Redacts the facts that the platform puts beside a message: the path of a file, the name of a host. */
function hideFacts(error: Error, secrets: Secrets): void {
  for (const name of Object.keys(error)) {
    const value: unknown = Reflect.get(error, name);
    if (typeof value === 'string') Reflect.set(error, name, secrets.redactMessage(value));
  }
}

function redactValue(value: unknown, secrets: Secrets): unknown {
  if (typeof value === 'string') return secrets.redactMessage(value);
  if (typeof value === 'number' || typeof value === 'bigint')
    return secrets.holds(String(value)) ? secrets.redact(String(value)) : value;
  if (Array.isArray(value)) return value.map((item) => redactValue(item, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return redactFields(Object.fromEntries(Object.entries(value)), secrets);
}
