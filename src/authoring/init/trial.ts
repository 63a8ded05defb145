import { parseExtractorConfig } from '../../engine/config/extractor-config.ts';
import { resolveSecrets } from '../../engine/config/secrets.ts';
import type { Env } from '../../lib/env.ts';
import { ConfigError, ExtractorError } from '../../lib/errors.ts';
import type { PageContent } from '../../engine/extract/content.ts';
import { openConfig } from '../../engine/extract/open-config.ts';
import { timeContext } from '../../engine/extract/time.ts';
import { Witnesses } from '../../engine/extract/witnesses.ts';
import type { ApiRequest, ApiResponse } from '../../engine/shared/message.ts';
import { parseJobs } from '../../engine/jobs/index.ts';
import { encodeExact, getKey, type AnyObject, type Json } from '../../lib/json/index.ts';
import { silentLog } from '../../lib/log.ts';
import { parseCompleteness } from '../../engine/shared/completeness-signs.ts';
import { unrecorded } from '../../engine/recording/exchanges.ts';
import { parseMappings } from '../../engine/records/mapping/parse.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { LoginKeeper } from '../../engine/http/auth/index.ts';
import type { JobReport } from '../../engine/completeness/index.ts';
import { BudgetSpent, type Wire } from './budgeted-client.ts';
import { forLooking } from '../../engine/extract/probe.ts';

/** A page that a configuration brought. */
export interface TriedPage {
  readonly request: ApiRequest;
  readonly response: ApiResponse;
  /** The answer without its rows. */
  readonly envelope: Json;
  readonly rowsAt: readonly string[] | undefined;
  readonly isSingle: boolean;
  readonly rows: readonly Json[];
}

/** Result of trying a configuration. */
export interface Trial {
  /** Pages that are kept, in their order. */
  readonly pages: readonly TriedPage[];
  /** Report of the job; undefined if it did not come to its end. */
  readonly report: JobReport | undefined;
  readonly failure: ExtractorError | undefined;
  /** It ended because no more requests are allowed. */
  readonly isSpent: boolean;
  /** A page that brought the rows of an earlier one, or no rows as those before: the trial ended there. */
  readonly repeated: { readonly page: number; readonly of: number } | undefined;
}

export interface TrialOptions {
  readonly configuration: AnyObject;
  /** Values of `$env:NAME`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly wire: Wire;
  /** Pages of each job. */
  readonly limit?: number | undefined;
  readonly env: Env;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
  /** Keeps logins of persons. */
  readonly logins?: LoginKeeper | undefined;
}

/**
 * Runs a configuration by the engine of a run, for its pages and its verdict: nothing is written.
 *
 * @throws the reason of the signal
 */
export async function tryOut(options: TrialOptions): Promise<Trial> {
  const { signal, secrets, env } = options;
  const pages: TriedPage[] = [];
  const reports: JobReport[] = [];
  const end = (why: Partial<Pick<Trial, 'failure' | 'isSpent' | 'repeated'>> = {}): Trial => ({
    pages,
    report: reports[0],
    failure: why.failure,
    isSpent: why.isSpent ?? false,
    repeated: why.repeated,
  });
  const take = async (content: PageContent): Promise<void> => {
    const page = pageOf(content);
    const of = page.rows.length > 0 ? pages.findIndex((each) => isAgain(page, each)) : emptyAgain(pages);
    if (of >= 0) throw new Repeated(pages.length + 1, of + 1);
    pages.push(page);
  };
  try {
    const configuration = resolveSecrets(options.configuration, options.environment);
    const config = forLooking(parseExtractorConfig(configuration));
    const [effective] = config.configs;
    if (effective === undefined)
      throw new ConfigError('config.invalid', 'The configuration describes no run.');
    const time = timeContext({}, Math.floor(env.now() / 1000));
    const { connection, jobRunner } = openConfig({
      config,
      effective,
      env,
      log: silentLog,
      secrets,
      time,
      cacheFolder: '',
      logins: options.logins,
      tap: options.wire.tap,
      firstContact: { isMade: false, attempts: 1 },
    });
    try {
      const witnesses = new Witnesses({
        completeness: parseCompleteness(
          getKey(config.api.node, 'completeness'),
          'parameters.api.completeness',
        ),
        mappings: parseMappings(effective.mappings, effective.mappingsAt),
        log: silentLog,
        secrets,
      });
      const jobs = parseJobs(effective.jobs, effective.jobsAt, [], config.api.defaultOptions);
      const runner = jobRunner({
        bucket: { take, settle: async () => undefined, isSettled: true },
        exchanges: unrecorded(env),
        witnesses,
        iteration: 0,
        concurrency: 1,
        limit: options.limit,
        signal,
        progress: {},
        startedAt: env.now(),
      });
      for (const [index, job] of jobs.entries()) await runner.run(job, index);
      reports.push(...witnesses.reports());
    } finally {
      await connection.close();
    }
    return end();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof BudgetSpent) return end({ isSpent: true });
    if (error instanceof Repeated) return end({ repeated: error.pages });
    if (error instanceof ExtractorError) return end({ failure: error });
    throw error;
  }
}

/** Ends a trial from within: what comes behind would come again, too. */
class Repeated extends Error {
  readonly pages: { readonly page: number; readonly of: number };
  constructor(page: number, of: number) {
    super('a page came again');
    this.pages = { page, of };
  }
}

/** Pages without rows behind which no other is asked for: APIs that filter go on behind a few. */
const EMPTY_PAGES = 3;

/** Returns the index of the last page where several before are all without rows, else -1. */
function emptyAgain(pages: readonly TriedPage[]): number {
  const last = pages.slice(-EMPTY_PAGES);
  return last.length === EMPTY_PAGES && last.every(({ rows }) => rows.length === 0) ? pages.length - 1 : -1;
}

function isAgain(page: TriedPage, earlier: TriedPage): boolean {
  return page.rows.length === earlier.rows.length && encodeExact(page.rows) === encodeExact(earlier.rows);
}

/** Takes the rows while the page is in memory: their bytes are not kept. */
function pageOf(content: PageContent): TriedPage {
  const { page, request, response } = content;
  return {
    request,
    response,
    envelope: page.envelope,
    rowsAt: page.rowsAt,
    isSingle: page.pieces[0]?.single === true,
    rows: [...content.chunks()].flat(),
  };
}
