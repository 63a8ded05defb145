import { entriesOf, objectOf, type Json } from '../../lib/json/index.ts';
import type { Candidate, Observed } from './candidate.ts';
import { candidatesOf, seesMore } from './candidates.ts';
import { overlapOf } from './compare.ts';
import { configurationOf } from './configure.ts';
import { offsetCandidate, pageCandidate } from './count.ts';
import { lookAt, runOf, type ProbeContext, type ProbedList, type TriedSource } from './laboratory.ts';
import { isPartOf, settle, skipsRows, WHOLE, type Settled } from './settle.ts';
import { byUnnamed, type UnnamedWay } from './unnamed.ts';

export interface Way {
  readonly settled: Settled | undefined;
  /** Why it may well be that there is a way, though none was found. */
  readonly isOpen: string | undefined;
  /** Why there may be more rows than came, though nothing in the answers speaks of them. */
  readonly doubt: string | undefined;
  /** The requests that are allowed were made before everything was tried. */
  readonly isSpent: boolean;
}

/** Tries candidates until one is proved, or nothing is left to try. */
export async function findWay(
  seen: Observed,
  subject: ProbedList,
  lab: ProbeContext,
  tried: TriedSource[],
): Promise<Way> {
  let best: Settled | undefined;
  let isSpent = false;
  let alone = 0;
  let rowsAlone = 0;
  let mixed: Candidate | undefined;
  let changing: readonly Candidate[] = [];
  let isPicky = false;
  let unnamed: UnnamedWay | undefined;
  const candidates = candidatesOf(seen);
  const groups = new Groups();
  for (
    let candidate = groups.next(candidates);
    candidate !== undefined;
    candidate = groups.next(candidates)
  ) {
    if (lab.wire.left === 0) {
      isSpent = true;
      break;
    }
    if (candidate.isGuess && best !== undefined) break;
    if (candidate.isGuess && unnamed === undefined) {
      unnamed = await byUnnamed(seen, subject, lab, tried);
      if (unnamed.settled !== undefined) return found(unnamed.settled);
    }
    if (candidate.isGuess && isPicky && ++alone > MOST_ALONE) break;
    const several = isPicky ? [] : groups.toAskAtOnce(candidate, candidates);
    if (several.length > 0) {
      const answer = await askAtOnce(several, seen, subject, lab);
      if (answer === 'same' || answer === 'part') {
        groups.ruleOut(several);
        const result = answer === 'same' ? 'they change nothing: page 1 comes again' : WHOLE;
        tried.push({ what: namesOf(several), result });
      } else if (
        (candidate.isGuess || candidate.kind === 'row') &&
        changing.length === 0 &&
        (await minds(seen, subject, lab))
      ) {
        isPicky = true;
      } else {
        groups.suspect(candidate, several);
        if (candidate.isGuess && changing.length === 0) changing = several;
      }
      continue;
    }
    groups.ruleOut([candidate]);
    if (isPicky && candidate.kind === 'row' && ++rowsAlone > MOST_ROWS) continue;
    let look = await lookAt(candidate, subject, lab);
    const { counts } = candidate;
    if (look.isByOne === true && candidate.kind === 'offset' && counts?.first === 0) {
      tried.push({ what: candidate.says, result: look.why });
      candidate = { ...offsetCandidate(counts.param, 1, seen), isGuess: candidate.isGuess };
      look = await lookAt(candidate, subject, lab);
    }
    // of two pages the second one has the number 1 where the first one has 0
    if (look.outcome === 'empty' && candidate.kind === 'page' && counts?.first === 1 && seesMore(seen)) {
      tried.push({ what: candidate.says, result: look.why });
      candidate = { ...pageCandidate(counts.param, 0, seen), isGuess: candidate.isGuess };
      look = await lookAt(candidate, subject, lab);
    }
    if (look.outcome === 'mixed') mixed ??= candidate;
    // an empty page is no end where the answer says that there is more
    const isEnd =
      look.outcome === 'empty' &&
      (candidate.counts !== undefined || candidate.isMoved === true) &&
      !seesMore(seen) &&
      (!(isPicky && candidate.isGuess) ||
        (candidate.kind === 'offset' &&
          subject.rows.length > 1 &&
          (await skipsRows(candidate, subject, lab))));
    if (look.outcome !== 'new' && !isEnd) {
      groups.failed(candidate);
      tried.push({ what: candidate.says, result: look.why });
      continue;
    }
    const settled = await settle(candidate, seen, subject, lab, tried);
    if (settled === undefined) {
      groups.failed(candidate);
      continue;
    }
    if (settled.verdict !== 'doubtful') return found(settled);
    best ??= settled;
  }
  if (best === undefined && mixed !== undefined && lab.wire.left > 0)
    best = await settle(mixed, seen, subject, lab, tried);
  // other rows than those of page 1: the list is longer, whatever cuts it
  const others = mixed === undefined ? changing : [mixed];
  const isWhole =
    mixed === undefined && (changing.length === 0 || tried.some(({ result }) => result === WHOLE));
  return {
    settled: best,
    isOpen: best !== undefined || isWhole ? undefined : openText(others),
    doubt: unnamed?.doubt,
    isSpent: isSpent || (best?.verdict === 'doubtful' && best.trial.isSpent),
  };
}

function found(settled: Settled): Way {
  return { settled, isOpen: undefined, doubt: undefined, isSpent: false };
}

function openText(candidates: readonly Candidate[]): string {
  return `The answer is another one with ${namesOf(candidates)}: the API knows some of them, but no way to all rows was found. See its documentation.`;
}

function namesOf(candidates: readonly Candidate[]): string {
  const names = candidates.flatMap(({ sends, counts }) => {
    const name = sends?.[0] ?? counts?.param.join('.');
    return name === undefined ? [] : [`\`${name}\``];
  });
  return [...new Set(names)].join(', ');
}

/** Number of guesses that are tried one by one, where a wrong name changes the answer. */
const MOST_ALONE = 6;
/** The same of names for the id of the last row. */
const MOST_ROWS = 2;

/** Tells whether an API refuses a parameter that it cannot know, or filters by it. */
async function minds({ target }: Observed, subject: ProbedList, lab: ProbeContext): Promise<boolean> {
  lab.onStep?.('trying a parameter that no API knows');
  const params = objectOf([...entriesOf(target.params), ['zz_unknown', 1]]);
  const trial = await runOf(lab, configurationOf(target, { params, rows: subject.rowsKeys }), 1);
  const [page] = trial.pages;
  return !trial.isSpent && (page === undefined || !overlapOf(subject.rows, page.rows, subject).isSame);
}

/** The fewest names that are worth a request for all of them. */
const ENOUGH = 3;

/** Candidates that differ in the name of a parameter alone: several can be tried by one request. */
class Groups {
  readonly #failures = new Map<string, number>();
  /** Those of a group among which one changes the answer. */
  readonly #suspects = new Map<string, readonly Candidate[]>();
  readonly #done = new Set<Candidate>();

  /** Returns the likeliest candidate that is left; if one of several changes the answer, one of those. */
  next(candidates: readonly Candidate[]): Candidate | undefined {
    const first = candidates.find((each) => !this.#done.has(each));
    if (first?.group === undefined) return first;
    return this.#suspects.get(first.group)?.find((each) => !this.#done.has(each)) ?? first;
  }

  failed({ group }: Candidate): void {
    if (group !== undefined) this.#failures.set(group, (this.#failures.get(group) ?? 0) + 1);
  }

  ruleOut(candidates: readonly Candidate[]): void {
    for (const candidate of candidates) this.#done.add(candidate);
  }

  suspect({ group }: Candidate, candidates: readonly Candidate[]): void {
    if (group !== undefined) this.#suspects.set(group, candidates);
  }

  /**
   * Returns candidates to be tried in one request before this one: all of a group; all of a token when the likeliest
   * name was wrong; and if one of them changes the answer, half of them after two that were wrong.
   */
  toAskAtOnce({ group, kind }: Candidate, candidates: readonly Candidate[]): readonly Candidate[] {
    if (group === undefined) return [];
    const failures = this.#failures.get(group) ?? 0;
    if (kind === 'token' && failures === 0) return [];
    const suspects = this.#suspects.get(group);
    const left = (suspects ?? candidates).filter(
      (each) => each.group === group && each.sends !== undefined && !this.#done.has(each),
    );
    if (left.length < ENOUGH || (suspects !== undefined && failures < 2)) return [];
    return suspects === undefined ? left : left.slice(0, Math.ceil(left.length / 2));
  }
}

/**
 * Sends all their parameters in one request. If the answer stays the same, the API knows none of them; if it is a part
 * of the list, the list comes whole without them.
 */
async function askAtOnce(
  candidates: readonly Candidate[],
  seen: Observed,
  subject: ProbedList,
  lab: ProbeContext,
): Promise<'same' | 'part' | 'other'> {
  const sent = candidates.flatMap(({ sends }): (readonly [string, Json])[] =>
    sends === undefined ? [] : [sends],
  );
  lab.onStep?.('trying several parameters at once');
  const params = objectOf([...entriesOf(seen.target.params), ...sent]);
  const trial = await runOf(lab, configurationOf(seen.target, { params, rows: subject.rowsKeys }), 1);
  const [page] = trial.pages;
  if (page === undefined) return 'other';
  if (overlapOf(subject.rows, page.rows, subject).isSame) return 'same';
  return isPartOf(page.rows, subject) ? 'part' : 'other';
}
