import { entriesOf, objectOf, type Json } from '../json/index.ts';
import { candidatesOf, seesMore, type Candidate, type Observed } from './candidates.ts';
import { overlapOf } from './compare.ts';
import { configurationOf } from './configure.ts';
import { lookAt, runOf, type Laboratory, type Subject, type Tried } from './laboratory.ts';
import { settle, type Settled } from './settle.ts';

/** Tries candidates until one is proved, or nothing is left to try. */
export async function findWay(
  seen: Observed,
  subject: Subject,
  lab: Laboratory,
  tried: Tried[],
  notes: string[],
): Promise<Settled | undefined> {
  let best: Settled | undefined;
  let mixed: Candidate | undefined;
  const candidates = candidatesOf(seen);
  const groups = new Groups();
  for (const [i, candidate] of candidates.entries()) {
    if (lab.wire.left === 0) {
      notes.push(
        'All requests that are allowed were made before everything was tried: more are allowed by --max-requests.',
      );
      break;
    }
    if (candidate.isGuess && best !== undefined) break;
    if (groups.isRuledOut(candidate)) continue;
    const others = groups.toAskAtOnce(candidate, candidates.slice(i));
    if (others.length > 0) {
      const names = await unknownOf(others, seen, subject, lab);
      if (names !== undefined) {
        groups.ruleOut(candidate);
        tried.push({ what: names, result: 'they change nothing: page 1 comes again' });
        continue;
      }
    }
    const look = await lookAt(candidate, subject, lab);
    if (look.outcome === 'mixed') mixed ??= candidate;
    // an empty page is no end where the answer says that there is more
    const isEnd = look.outcome === 'empty' && candidate.counts !== undefined && !seesMore(seen);
    if (look.outcome !== 'new' && !isEnd) {
      groups.failed(candidate);
      tried.push({ what: candidate.says, result: look.why });
      continue;
    }
    const settled = await settle(candidate, seen, subject, lab, tried);
    if (settled === undefined) continue;
    if (settled.verdict !== 'doubtful') return settled;
    best ??= settled;
  }
  if (best === undefined && mixed !== undefined && lab.wire.left > 0)
    best = await settle(mixed, seen, subject, lab, tried);
  return best;
}

/** The fewest names that are worth a request for all of them. */
const ENOUGH = 3;

/** Candidates that differ in the name of a parameter alone: several can be tried by one request. */
class Groups {
  readonly #failed = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #ruledOut = new Set<string>();

  isRuledOut({ group }: Candidate): boolean {
    return group !== undefined && this.#ruledOut.has(group);
  }

  failed({ group }: Candidate): void {
    if (group !== undefined) this.#failed.add(group);
  }

  ruleOut({ group }: Candidate): void {
    if (group !== undefined) this.#ruledOut.add(group);
  }

  /** Of what is mere guessing all at once; of a token the rest, when the likeliest name was wrong. */
  toAskAtOnce({ group, kind }: Candidate, rest: readonly Candidate[]): readonly Candidate[] {
    if (group === undefined || this.#asked.has(group)) return [];
    if (kind === 'token' && !this.#failed.has(group)) return [];
    const others = rest.filter((each) => each.group === group && each.sends !== undefined);
    if (others.length < ENOUGH) return [];
    this.#asked.add(group);
    return others;
  }
}

/** All their parameters in one request: when the answer stays the same, the API knows none of them. */
async function unknownOf(
  candidates: readonly Candidate[],
  seen: Observed,
  subject: Subject,
  lab: Laboratory,
): Promise<string | undefined> {
  const sent = candidates.flatMap(({ sends }): (readonly [string, Json])[] =>
    sends === undefined ? [] : [sends],
  );
  lab.onStep?.('trying several parameters at once');
  const params = objectOf([...entriesOf(seen.target.params), ...sent]);
  const trial = await runOf(lab, configurationOf(seen.target, { params, rows: subject.rowsKeys }), 1);
  const [page] = trial.pages;
  if (page === undefined || !overlapOf(subject.rows, page.rows, subject).isSame) return undefined;
  return sent.map(([name]) => `\`${name}\``).join(', ');
}
