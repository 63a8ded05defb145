import { parseCompleteness, type Completeness } from '../shared/completeness-signs.ts';
import { PaginationError } from '../../lib/errors.ts';
import type { Job } from '../jobs/index.ts';
import { compilePath, getKey, toJsonText, type Json, type Path } from '../../lib/json/index.ts';
import type { Log } from '../../lib/log.ts';
import { nearMiss, type GuardVerdict, type Paginator } from '../pagination/index.ts';
import type { Reason } from '../shared/stop-reason.ts';
import type { Mapping, Mappings } from '../records/mapping/mapping.ts';
import type { Secrets } from '../../lib/secrets.ts';
import {
  addReaction,
  type Circle,
  describeDoubt,
  JobTally,
  Siblings,
  Witness,
  type Doubt,
  type JobReport,
  type Judgement,
  type ReactionReport,
} from '../completeness/index.ts';
import type { PageContent } from './content.ts';

export interface WitnessesOptions {
  /** `api.completeness`, for all jobs. */
  readonly completeness: Completeness;
  /** Mappings of the jobs' rows: a primary key in them identifies rows. */
  readonly mappings: Mappings;
  readonly log: Log;
  readonly secrets: Secrets;
}

/** Sees the pages of one run of a job. */
export interface RunWitness {
  /** Takes each page, in order, as soon as it is known whether it is kept. */
  see(content: PageContent, page: number, verdict: GuardVerdict): void;
  /** Tells whether the next page may be the last one of a circle, which is an error. */
  isNearCircle(): boolean;
  /** Takes the answers of an export that led to its files. */
  announce(answers: readonly Json[]): void;
  /** Returns the number of pages still to come, as far as the answers tell. */
  pagesLeft(): number | undefined;
  /**
   * @param also what speaks against the run besides its own pages
   * @returns whether the pages were all
   */
  end(reason: Reason, also?: readonly Doubt[]): Judgement;
}

/** Says for each job of a configuration whether it has everything. */
export class Witnesses {
  readonly #options: WitnessesOptions;
  readonly #jobs = new Map<Job, JobTally>();
  readonly #settings = new Map<Job, Completeness>();
  readonly #siblings = new Map<Job, Siblings>();

  constructor(options: WitnessesOptions) {
    this.#options = options;
  }

  /** @param window the window of time that it asks for, in words */
  begin(job: Job, paginator: Paginator, window?: string): RunWitness {
    const tally = this.#tally(job);
    const { own } = this.#settingsOf(job);
    const traits = paginator.traits ?? { kind: 'follow', at: 'parameters.api.pagination' };
    const key = keyPaths(this.#options.mappings.get(job.dataType));
    const isAlone = job.level === 0 && window === undefined && job.over === undefined;
    const witness = new Witness(traits, own, { key, isAlone });
    let request = '';
    const reactions = new Map<string, ReactionReport>();
    return {
      see: (content, page, { verdict, repeats }) => {
        const { taken } = content;
        if (taken !== undefined) {
          const { method, url } = content.request;
          const shown = `${method} ${this.#options.secrets.redactUrl(url)}`;
          addReaction(reactions, { ...taken, answers: 1, request: shown });
        }
        if (page === 1) {
          const { method, url } = content.request;
          this.#siblingsOf(job)?.see({
            place: `${method} ${url.split(/[?#]/, 1)[0] ?? ''}`,
            request: content.requestDigest,
            rows: content.page.rows,
            rowsDigest: content.page.rowsDigest,
            isSingle: content.page.pieces[0]?.single === true,
          });
          request = `${method} ${this.#options.secrets.redactUrl(url)}`;
        }
        const { envelope, rowsAt, rows, pieces, stream, digest } = content.page;
        const { headers, status } = content.response;
        const circle = witness.see({
          page,
          envelope,
          rowsAt,
          rows,
          missed: content.page.missed,
          isMade: getKey(job.rowSettings, 'rowsAt') !== undefined,
          isSingle: pieces[0]?.single === true,
          digest,
          isStream: stream !== undefined,
          header: content.page.header,
          headers,
          status,
          isTakenAsEmpty: taken?.do === 'empty' || taken?.do === 'skip',
          asked: { job: content.asked, wire: content.request },
          isDropped: verdict !== 'keep',
          repeats,
        });
        if (circle !== undefined && !this.accepts(job)) throw endless(circle);
        content.onRows({
          take: (decoded) => witness.take(decoded),
          raw: { wanted: () => witness.wanted(), take: (seen) => witness.takeSeen(seen) },
          end: () => witness.settle(),
        });
      },
      isNearCircle: () => witness.isNearCircle,
      announce: (answers) => {
        for (const answer of answers) witness.announce(answer);
      },
      pagesLeft: () => witness.pagesLeft(),
      end: (reason, also = []) => {
        const ended = witness.end(
          reason,
          (path: string, envelope: Json) => nearMiss(compilePath(path), envelope),
          tally,
        );
        tally.hadList ||= witness.hadList;
        tally.hadEmptyList ||= witness.hadEmptyList;
        const judgement = withDoubts(ended.judgement, also);
        tally.add({ ...ended, judgement, request, ...(window === undefined ? {} : { window }) });
        tally.react(reactions.values());
        return judgement;
      },
    };
  }

  /** Runs of a job that were not begun, as it had so many pages as it may have. */
  skip(job: Job, runs: number, pages: number): void {
    const reason: Reason = { code: 'limit', pages };
    const judgement: Judgement = { verdict: 'cut', doubts: [] };
    for (let i = 0; i < runs; i++)
      this.#tally(job).add({ reason, judgement, pages: 0, rows: 0, rowsTwice: 0, request: '' });
  }

  /** Returns the reports of all jobs that ran; findings are logged. */
  reports(): readonly JobReport[] {
    return [...this.#jobs].flatMap(([job, tally]) => {
      const { accepted, isRequired } = this.#settingsOf(job);
      this.#tellSiblings(job, tally);
      const report = tally.report(accepted, isRequired);
      if (report === undefined) return [];
      if (report.verdict === 'doubtful') {
        const say = report.accepted === undefined ? 'warn' : 'info';
        this.#options.log[say](describeDoubt(report), { job: job.name });
      }
      return [report];
    });
  }

  #tellSiblings(job: Job, tally: JobTally): void {
    const siblings = this.#siblings.get(job);
    if (siblings === undefined) return;
    this.#siblings.delete(job);
    tally.doubt(siblings.doubts(namesOf(job)));
    const { again } = siblings;
    if (again === undefined || again.rows === 0 || this.hasKey(job) || isOfParents(job)) return;
    this.#options.log.warn(
      `“${job.name}” asked ${again.runs === 1 ? 'once' : `${again.runs} times`} for what it had asked for before, as values of ${namesOf(job).join(', ')} come more than once: ${again.rows === 1 ? '1 row is' : `${again.rows} rows are`} there again. Give its table a primary key, or leave such values out`,
      { job: job.name },
    );
  }

  /** Undefined for a job that has no values of its own, or windows or groups, which are compared by themselves. */
  #siblingsOf(job: Job): Siblings | undefined {
    const { windows, export: exported, group } = job;
    if (windows !== undefined || exported !== undefined || group !== undefined) return undefined;
    if (namesOf(job).length === 0) return undefined;
    let siblings = this.#siblings.get(job);
    if (siblings === undefined) this.#siblings.set(job, (siblings = new Siblings()));
    return siblings;
  }

  /** Tells whether the configuration takes a doubt about this job. */
  accepts(job: Job): boolean {
    return this.#settingsOf(job).accepted !== undefined;
  }

  /** Tells whether a storage has rows of the job that come twice once. */
  hasKey(job: Job): boolean {
    return keyPaths(this.#options.mappings.get(job.dataType)).length > 0;
  }

  #tally(job: Job): JobTally {
    let tally = this.#jobs.get(job);
    if (tally === undefined) this.#jobs.set(job, (tally = new JobTally(job.name, job.at)));
    return tally;
  }

  #settingsOf(job: Job): Completeness {
    let settings = this.#settings.get(job);
    if (settings === undefined) {
      settings = parseCompleteness(job.completeness, `${job.at}.completeness`, this.#options.completeness);
      this.#settings.set(job, settings);
    }
    return settings;
  }
}

/** Names of the values that tell the runs of a job apart. */
function namesOf({ placeholders, over = [] }: Job): readonly string[] {
  return [...placeholders, ...over].map(({ name }) => name);
}

/** The rows get values of the rows above, which may be different where the request is the same. */
function isOfParents({ rowSettings }: Job): boolean {
  return toJsonText(rowSettings).includes('"parent"');
}

const CIRCLES = {
  known:
    'have only rows of pages before them, but for changing values such as times, although something else is asked for each time',
  errors: 'are errors in the place of rows, and none of them ends the job',
} as const;

function endless({ are, from, to }: Circle): PaginationError {
  return new PaginationError('pagination.loop', `Pages ${from} to ${to} ${CIRCLES[are]}.`, {
    where: { page: to },
    hint: 'If the API does not know the parameters of the pagination, correct them; if it has no further pages, end it with `nextPageFlag`, `stopWhen` or `limitStop`. Where all is as it should be, say so by `"completeness": "accept"` in the job.',
    details: { from, to },
  });
}

function withDoubts(judgement: Judgement, also: readonly Doubt[]): Judgement {
  return also.length === 0 ? judgement : { verdict: 'doubtful', doubts: [...judgement.doubts, ...also] };
}

/** Returns the paths of the primary key in a row; values above the rows are the same for all of them. */
function keyPaths(mapping: Mapping | undefined): readonly Path[] {
  return (mapping?.entries ?? []).flatMap((entry) =>
    entry.kind === 'column' && entry.primaryKey
      ? [compilePath(entry.path, { delimiter: entry.delimiter })]
      : [],
  );
}
