import { createHash } from 'node:crypto';
import type { RunError } from '../../../storage/protocol/run.ts';

/** A run that went wrong, as far as its cause says. */
interface EndedRun {
  readonly status: string;
  /** JSON; null for a doubt. */
  readonly error: string | null;
}

const DOUBTFUL: RunError = {
  code: 'run.doubtful',
  message: 'The run succeeded, and its tables may not have everything.',
  audience: 'user',
  hint: 'Look at the verdict of its jobs: it names what is in doubt, and what would settle it.',
};

/** Returns why a run went wrong. */
export function errorOf({ error }: Pick<EndedRun, 'error'>): RunError {
  // Written by this service.
  return error === null ? DOUBTFUL : (JSON.parse(error) as RunError);
}

/** Returns the host that the error has an address of. */
export function hostOf({ where }: RunError): string | undefined {
  const url: unknown = typeof where === 'object' && where !== null && 'url' in where ? where.url : undefined;
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).host : undefined;
}

/** Identifies the cause of a run's failure: the code, the API, and the message without what differs from run to run. */
export function causeOf(run: EndedRun): string {
  const error = errorOf(run);
  const parts = [run.status, error.code, hostOf(error) ?? '', alike(error.message)];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16);
}

const TELLING = 300;

/** Takes addresses, names in “”, times, ids and numbers out of a message; the status of an answer stays. */
function alike(message: string): string {
  return message
    .slice(0, TELLING)
    .replaceAll(/https?:\/\/[^\s"”,;)]+/g, '<address>')
    .replaceAll(/“[^”]*”/g, '<name>')
    .replaceAll(/\b(?=[0-9a-f-]*\d)[0-9a-f][0-9a-f-]{7,}\b/gi, '<id>')
    .replaceAll(/(?<!(?:answered|status) )\b\d[\d.,:]*/g, '<number>');
}
