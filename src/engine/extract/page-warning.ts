import { toText } from '../../lib/json/index.ts';
import type { Job, JobInvocation } from '../jobs/index.ts';
import type { Log } from '../../lib/log.ts';
import type { Reason, ReasonCode } from '../shared/stop-reason.ts';
import type { Page } from '../records/page.ts';
import type { Secrets } from '../../lib/secrets.ts';

/** Warnings of a job that are shown one by one. */
const SHOWN = 3;
/** Letters of the placeholders that are shown. */
const SHOWN_LETTERS = 200;

/** The warnings of pages without rows: the first ones of each job, with the values that a child was asked for. */
export class PageWarnings {
  readonly #log: Log;
  readonly #secrets: Secrets;
  readonly #counts = new Map<Job, number>();

  constructor(log: Log, secrets: Secrets) {
    this.#log = log;
    this.#secrets = secrets;
  }

  add(job: Job, { parameters }: JobInvocation, page: Page, number: number, end: Reason | undefined): void {
    if (page.warning === undefined) return;
    const level = warningLevel(page, number, end);
    const count = (this.#counts.get(job) ?? 0) + (level === 'warn' ? 1 : 0);
    this.#counts.set(job, count);
    const values = parameters.map(({ name, value }) => `${name}=${toText(value)}`).join(', ');
    // before it is cut: the log does not know half a secret
    const placeholders = this.#secrets.redactMessage(values).slice(0, SHOWN_LETTERS);
    this.#log[count > SHOWN ? 'debug' : level](page.warning, {
      job: job.name,
      page: number,
      ...(placeholders === '' ? {} : { placeholders }),
    });
  }

  /** Says how many there were besides those that were shown; all is then forgotten. */
  tellRest(): void {
    for (const [{ name }, count] of this.#counts) {
      const more = count - SHOWN;
      if (more > 0)
        this.#log.warn(
          `${more} more ${more === 1 ? 'answer' : 'answers'} of “${name}” had no rows in the same way`,
          {
            job: name,
          },
        );
    }
    this.#counts.clear();
  }
}

/**
 * Returns the level for an empty page: behind a page with rows, an empty list is how many methods find their end, and
 * no warning.
 */
function warningLevel(page: Page, number: number, end: Reason | undefined): 'warn' | 'debug' {
  const isEmptyList = page.rows === 0 && page.rowsAt !== undefined;
  return isEmptyList && number > 1 && end !== undefined && USUAL_ENDS.has(end.code) ? 'debug' : 'warn';
}

const USUAL_ENDS: ReadonlySet<ReasonCode> = new Set([
  'noRows',
  'shortPage',
  'noLink',
  'noLinkHeader',
  'noValue',
  'endValue',
]);
