/** Facts beside a message; they appear as JSON. Secrets are removed from them: every event passes the redactor. */
export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
