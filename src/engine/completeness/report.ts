import { reasonText, type Reason, type ReasonCode } from '../shared/stop-reason.ts';
import type { Doubt, Judgement, Proof, Verdict } from './doubt.ts';
import { doubtText } from './words.ts';

/** Doubtful runs of a child job that are shown one by one. */
const SHOWN = 3;

/** One run of a job that ended: a job has one, a child one for each row above it. */
export interface EndedRun {
  readonly reason: Reason;
  readonly judgement: Judgement;
  readonly pages: number;
  readonly rows: number;
  readonly rowsTwice: number;
  /** The first request, redacted. */
  readonly request: string;
  /** The window of time that it asked for, in words. */
  readonly window?: string;
}

/** Report on the completeness of a job. JSON. */
export interface JobReport {
  readonly job: string;
  /** JSON path of the job. */
  readonly at: string;
  readonly verdict: Verdict;
  /** In words, why a doubtful job is taken all the same. */
  readonly accepted?: string;
  /** True where the configuration wants no doubt. */
  readonly required?: true;
  /** Runs of the job: of a child, one for each row above it. */
  readonly runs: number;
  readonly pages: number;
  readonly rows: number;
  /** Why they ended, and how often. */
  readonly reasons: readonly { readonly reason: Reason; readonly text: string; readonly runs: number }[];
  /** How many runs have which verdict. */
  readonly verdicts: Readonly<Partial<Record<Verdict, number>>>;
  /** Evidence of the first run that has some. */
  readonly proof?: Proof;
  /** The first doubtful runs. */
  readonly doubtful: readonly DoubtfulRun[];
  /** Rows whose ids came before, where ids are known. */
  readonly rowsTwice: number;
  /** Rows that came, and that `where` of the job left out. */
  readonly leftOut?: number;
  /** Answers that reactions of the configuration took otherwise than as usual. */
  readonly reactions?: readonly ReactionReport[];
}

/** Effect of a reaction. */
export interface ReactionReport {
  /** `skip`: the run of the job has no rows; `empty`: the page has none; `rows`: the body of an error became rows. */
  readonly do: 'empty' | 'skip' | 'rows';
  /** JSON path of it. */
  readonly at: string;
  /** How many answers it was. */
  readonly answers: number;
  /** Observation in the first of the answers, and its request, redacted. */
  readonly why: string;
  readonly request: string;
}

export interface DoubtfulRun {
  /** The window of time that it asked for, in words. */
  readonly window?: string;
  readonly request: string;
  readonly pages: number;
  readonly rows: number;
  readonly doubts: readonly (Doubt & { readonly text: string })[];
}

/** Collects the runs of one job in bounded memory. */
export class JobTally {
  readonly #job: { readonly job: string; readonly at: string };
  readonly #verdicts: Partial<Record<Verdict, number>> = {};
  readonly #reasons = new Map<ReasonCode, { reason: Reason; runs: number }>();
  readonly #doubtful: DoubtfulRun[] = [];
  readonly #reactions = new Map<string, ReactionReport>();
  /** A run had a page with a list; runs end in order. */
  hadList = false;
  /** The same, with a list without rows. */
  hadEmptyList = false;
  /** The first request. */
  #first = '';
  #proof: Proof | undefined;
  #runs = 0;
  #pages = 0;
  #rows = 0;
  #rowsTwice = 0;

  constructor(job: string, at: string) {
    this.#job = { job, at };
  }

  add({ reason, judgement, pages, rows, rowsTwice, request, window }: EndedRun): void {
    const { verdict, doubts, proof } = judgement;
    if (this.#runs++ === 0) this.#first = request;
    this.#pages += pages;
    this.#rows += rows;
    this.#rowsTwice += rowsTwice;
    this.#verdicts[verdict] = (this.#verdicts[verdict] ?? 0) + 1;
    this.#proof ??= proof;
    const known = this.#reasons.get(reason.code);
    if (known === undefined) this.#reasons.set(reason.code, { reason, runs: 1 });
    else known.runs++;
    if (doubts.length > 0 && this.#doubtful.length < SHOWN) {
      const told = doubts.map((doubt) => ({ ...doubt, text: doubtText(doubt) }));
      this.#doubtful.push({
        ...(window === undefined ? {} : { window }),
        request,
        pages,
        rows,
        doubts: told,
      });
    }
  }

  /** Answers of a run that were taken otherwise than as usual; runs in their order. */
  react(reactions: Iterable<ReactionReport>): void {
    for (const reaction of reactions) addReaction(this.#reactions, reaction);
  }

  /** Adds doubts about all runs together. */
  doubt(doubts: readonly Doubt[]): void {
    if (doubts.length === 0) return;
    this.#verdicts.doubtful = this.#runs;
    for (const verdict of ['cut', 'ended', 'complete'] as const) delete this.#verdicts[verdict];
    const told = doubts.map((each) => ({ ...each, text: doubtText(each) }));
    this.#doubtful.unshift({ request: this.#first, pages: this.#pages, rows: this.#rows, doubts: told });
    this.#doubtful.splice(SHOWN);
  }

  /** Returns the report; undefined for a job that did not run. */
  report(accepted: string | undefined, isRequired: boolean): JobReport | undefined {
    if (this.#runs === 0) return undefined;
    const verdict = (['doubtful', 'cut', 'ended', 'complete'] as const).find(
      (each) => (this.#verdicts[each] ?? 0) > 0,
    );
    const isDoubtful = verdict === 'doubtful';
    return {
      ...this.#job,
      verdict: verdict ?? 'ended',
      ...(isDoubtful && accepted !== undefined ? { accepted } : {}),
      ...(isRequired ? { required: true } : {}),
      runs: this.#runs,
      pages: this.#pages,
      rows: this.#rows,
      reasons: [...this.#reasons.values()].map(({ reason, runs }) => ({
        reason,
        text: reasonText(reason),
        runs,
      })),
      verdicts: { ...this.#verdicts },
      ...(this.#proof === undefined ? {} : { proof: this.#proof }),
      doubtful: [...this.#doubtful],
      rowsTwice: this.#rowsTwice,
      ...(this.#reactions.size === 0 ? {} : { reactions: [...this.#reactions.values()] }),
    };
  }
}

/** Counts what one reaction did, by where it stands; the first example stays. */
export function addReaction(known: Map<string, ReactionReport>, reaction: ReactionReport): void {
  const before = known.get(reaction.at);
  known.set(reaction.at, { ...(before ?? reaction), answers: (before?.answers ?? 0) + reaction.answers });
}

/** Describes the effect of a reaction in a sentence. */
export function reactionText({ do: deed, at, answers, why, request }: ReactionReport): string {
  const first = answers === 1 ? `, ${request}` : `, first ${request}`;
  return `${answers} ${answers === 1 ? 'answer was' : 'answers were'} ${DONE[deed]} by \`${at}\`: ${why}${first}`;
}

const DONE = {
  empty: 'taken as empty',
  skip: 'skipped',
  rows: 'taken as rows, whatever the status,',
} as const;

/** Tells whether a job is doubtful, and its doubt not accepted. */
export function isOpen({ verdict, accepted }: JobReport): boolean {
  return verdict === 'doubtful' && accepted === undefined;
}

/** The doubt of a job in sentences. */
export function describeDoubt({ job, runs, verdicts, doubtful, accepted }: JobReport): string {
  const [first] = doubtful;
  const of =
    runs === 1
      ? ''
      : ` in ${verdicts.doubtful ?? 0} of ${runs} ${first?.window === undefined ? 'runs, first' : `windows, first ${first.window},`} for ${first?.request ?? ''}`;
  const texts = first?.doubts.map(({ text }) => text).join(' ') ?? '';
  const taken = accepted === undefined ? '' : ` It is accepted: ${accepted}`;
  return `“${job}” may not have everything${of}. ${texts}${taken}`;
}
