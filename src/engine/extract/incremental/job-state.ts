import {
  compareMarks,
  markOf,
  partKey,
  type Incremental,
  type Job,
  type JobInvocation,
} from '../../jobs/index.ts';
import {
  entriesOf,
  getKey,
  isList,
  isNumber,
  isObject,
  numberOf,
  objectOf,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import type { Log } from '../../../lib/log.ts';
import { digestsOf } from './row-limits.ts';
import { another, isAhead, newer, type CursorFacts, type Examples } from './run-cursor.ts';
import { StateProgress, valueText, type EndedInvocation, type StoredValue } from './state-progress.ts';
import { isoTime } from '../../../lib/iso-time.ts';

export interface JobStateOptions {
  /** Stored state of the job; undefined when there is none, or it belongs to other settings. */
  readonly stored: AnyObject | undefined;
  /** Digest of what the state comes from. */
  readonly of: string;
  /** Digest of what is asked for. */
  readonly asked: string;
  /** Seconds since 1970 when the run began. */
  readonly startedAt: number;
}

/** When a run began by two clocks, in milliseconds since 1970. */
export interface Began {
  /** By that of this machine. */
  readonly here: number;
  /** By that of the API: the same where none is known to be ahead. */
  readonly there: number;
}

/** Parent rows whose states are kept; those that have not been there the longest go first. */
const MOST_PARENTS = 20_000;

/** The state of one job in one run. */
export class JobState {
  readonly #job: Job;
  readonly #settings: Incremental;
  readonly #options: JobStateOptions;
  /** As the run found them: what it asks for does not depend on which of its runs ended first. */
  readonly #begun: ReadonlyMap<string, StoredValue>;
  readonly #parents: Map<string, StoredValue>;
  readonly #finished = new Set<string>();
  #shared: StateProgress | undefined;
  #total: JobTotal = NOTHING;
  #held = 0;
  /** States that the run began with, and that are ahead of the clock. */
  #ahead: Examples = { count: 0, first: '' };
  /** Values of another kind than the state they would move. */
  #otherKinds: Examples = { count: 0, first: '' };
  readonly #unreadable: number;
  #isAsked = false;

  constructor(job: Job, settings: Incremental, options: JobStateOptions) {
    this.#job = job;
    this.#settings = settings;
    this.#options = options;
    const { parents, unreadable } = parentsIn(options.stored);
    this.#begun = parents;
    this.#unreadable = unreadable;
    this.#parents = new Map(this.#begun);
  }

  /** Begins what one start of the job asks for: all of it, or what one parent row is about. */
  begin(run: JobInvocation): StateProgress {
    this.#isAsked = true;
    const isBackward = this.#job.windows?.isBackward ?? false;
    if (this.#settings.isPerParent) {
      const key = partKey(this.#settings.asked, run);
      const stored = this.#begun.get(key);
      this.#look(stored?.cursor);
      return new StateProgress(this.#settings, stored, { key, isShared: false, isBackward });
    }
    if (this.#shared !== undefined) return this.#shared;
    const all = this.#options.stored;
    const cursor = all && getKey(all, 'cursor');
    const stored =
      all === undefined || cursor === undefined
        ? undefined
        : { cursor, rows: digestsOf(getKey(all, 'rows')) };
    this.#look(cursor);
    this.#shared = new StateProgress(this.#settings, stored, {
      isShared: this.#job.level > 0 || this.#job.over !== undefined,
      isBackward,
    });
    return this.#shared;
  }

  /**
   * Checks the stored state: one that was written by hand, or while `future` was true, may skip all rows until then.
   */
  #look(stored: Json | undefined): void {
    const { cursor, takesFuture, as } = this.#settings;
    const isCursor = cursor !== undefined && !takesFuture;
    const mark = stored === undefined || !isCursor ? undefined : markOf(stored, as);
    if (mark !== undefined && stored !== undefined && isAhead(mark, this.#options.startedAt * 1000))
      this.#ahead = another(this.#ahead, stored);
  }

  /** Takes the end of one of its runs, in their order. */
  end(progress: StateProgress, ended: EndedInvocation): void {
    progress.end(ended);
    if (!ended.isComplete) this.#held++;
    this.#total = sumOf(this.#total, ended.facts);
  }

  /** Takes the end of the last run of a start. */
  finish(progress: StateProgress): void {
    const { key } = progress;
    if (key === undefined) return;
    const other = progress.ofOtherKind;
    if (other !== undefined) this.#otherKinds = another(this.#otherKinds, other);
    // several parent rows may share a key, and what came for one says nothing of the others
    const isAgain = this.#finished.has(key);
    const cursor = isAgain
      ? older(this.#parents.get(key)?.cursor, progress.next, this.#settings)
      : progress.next;
    const rows = isAgain ? [] : progress.nextRows;
    this.#finished.add(key);
    this.#parents.delete(key); // to the end: the row was there last
    if (cursor !== undefined) this.#parents.set(key, { cursor, rows, at: this.#options.startedAt });
  }

  /** Returns the state to store; undefined for none. */
  next(began: Began): AnyObject | undefined {
    const { of, asked, stored } = this.#options;
    const settings = [['of', of] as const, ['asked', asked] as const];
    if (!this.#isAsked) return stored;
    if (this.#settings.isPerParent) {
      if (this.#parents.size === 0) return undefined;
      const kept = [...this.#parents].slice(-MOST_PARENTS);
      const parents = kept.map(
        ([key, { cursor, rows = [], at = 0 }]) =>
          [
            key,
            objectOf([
              ['cursor', this.#bounded(cursor, this.#begun.get(key)?.cursor, began)],
              ...rowsEntry(rows),
              ['at', at],
            ]),
          ] as const,
      );
      return objectOf([...settings, ['parents', objectOf(parents)]]);
    }
    const shared = this.#shared;
    if (shared?.next === undefined) return undefined;
    return objectOf([
      ...settings,
      ['cursor', this.#bounded(shared.next, shared.stored, began)],
      ...rowsEntry(shared.nextRows),
    ]);
  }

  /**
   * Limits a state that is the end of the windows to the clock of the API.
   *
   * By a local clock that is ahead, the end may be in the API's future, and rows until then would be skipped. The state
   * never goes back, and an end that the configuration puts later on purpose stays.
   */
  #bounded(cursor: Json, stored: Json | undefined, { here, there }: Began): Json {
    if (!this.#settings.keepsEnd || there >= here) return cursor;
    const [end, now, most] = [cursor, isoTime(here), isoTime(there)].map((value) => markOf(value, 'time'));
    if (end === undefined || now === undefined || most === undefined) return cursor;
    const isOfClock = (compareMarks(end, most) ?? 0) > 0 && (compareMarks(end, now) ?? 0) <= 0;
    if (!isOfClock) return cursor;
    const known = stored === undefined ? undefined : markOf(stored, 'time');
    return (newer(known, most) ?? most).value;
  }

  /** Says where the state is now, and what of the rows did not move it. */
  tell(log: Log): void {
    if (!this.#isAsked) return;
    const { name } = this.#job;
    const fields = { job: name };
    for (const message of this.#warnings()) log.warn(message, fields);
    const dropped = this.#parents.size - MOST_PARENTS;
    if (dropped > 0)
      log.warn(
        `“${name}” has states of more than ${MOST_PARENTS} parent rows: those of the ${dropped} that were not there the longest are forgotten, and begin anew when they come back`,
        fields,
      );
    if (this.#held > 0)
      log.info(
        `The state of “${name}” does not move behind what ${this.#held === 1 ? 'a run' : `${this.#held} runs`} may have missed: the next run asks for that again`,
        fields,
      );
    const shared = this.#shared;
    if (shared === undefined || shared.next === undefined) return;
    const [before, after] = [valueText(shared.stored), valueText(shared.next)];
    log.info(
      before === after
        ? `The state of “${name}” stays at ${after}`
        : `The state of “${name}” goes from ${before} to ${after}`,
      fields,
    );
  }

  *#warnings(): Iterable<string> {
    const { name } = this.#job;
    const { cursor, cursorForm, order } = this.#settings;
    const { rows, missing, odd, future, isMixed, isInOrder } = this.#total;
    const what = cursor?.text ?? '';
    if (this.#ahead.count > 0)
      yield `${this.#ahead.count === 1 ? 'The state' : `${this.#ahead.count} states`} of “${name}” that this run began with ${this.#ahead.count === 1 ? 'is' : 'are'} more than a day ahead of the clock, ${this.#ahead.count === 1 ? '' : 'first '}${this.#ahead.first}: what is older is left out, and the state does not move back by itself. Correct it in the state file, or begin anew with --reset-state; if such times are right, write “future”: true into “incremental”`;
    if (this.#unreadable > 0)
      yield `${this.#unreadable} of the states of parent rows of “${name}” cannot be read, as they have no “cursor”: they begin anew`;
    const other = this.#shared?.ofOtherKind;
    const { count, first } = other === undefined ? this.#otherKinds : another(this.#otherKinds, other);
    if (count > 0)
      yield `“${what}” has become another kind of value than the state of “${name}”, first ${first}: which of the two is newer cannot be known, and ${count === 1 ? 'the state' : `${count} states`} stayed. Say what it is by “as” of “incremental”, correct the state, or begin anew with --reset-state`;
    if (missing > 0)
      yield `${missing === rows ? 'None' : `${missing}`} of the ${rows} rows of “${name}” ${missing === rows ? 'has' : 'have no'} “${what}”, which the state is made of: ${missing === rows ? 'the state does not move. Correct' : 'they are kept, and do not move it. Check'} “cursor” of “incremental”`;
    if (odd.count > 0)
      yield `“${what}” cannot be compared in ${odd.count} rows of “${name}”, first ${odd.first}: they are kept, and do not move the state. ${cursorForm === undefined ? 'Say what it is by “as” of “incremental”' : 'They are not in the form that “cursorFormat” of “incremental” says'}`;
    if (future.count > 0)
      yield `“${what}” is more than a day ahead of the clock in ${future.count} rows of “${name}”, first ${future.first}: they are kept, and do not move the state, as what comes until then would be missed. If such times are right, write “future”: true into “incremental”`;
    if (isMixed)
      yield `“${what}” of “${name}” is a number, a time or a text in some rows and another of these in others: none is the newest, and the state stays. Say what it is by “as” of “incremental”`;
    if (order !== 'none' && !isInOrder)
      yield `The rows of “${name}” are not in ${order} order of “${what}”, as “order” says: ${order === 'descending' ? 'all pages were read' : 'the state moves only when all of them came'}`;
  }
}

const NOTHING: JobTotal = {
  rows: 0,
  missing: 0,
  odd: { count: 0, first: '' },
  future: { count: 0, first: '' },
  isMixed: false,
  isInOrder: true,
};

function sumOf(a: JobTotal, b: CursorFacts): JobTotal {
  return {
    rows: a.rows + b.rows,
    missing: a.missing + b.missing,
    odd: examples(a.odd, b.odd),
    future: examples(a.future, b.future),
    isMixed: a.isMixed || b.isMixed,
    isInOrder: a.isInOrder && b.isInOrder,
  };
}

type JobTotal = Pick<CursorFacts, 'rows' | 'missing' | 'odd' | 'future' | 'isMixed' | 'isInOrder'>;

function examples(a: Examples, b: Examples): Examples {
  return { count: a.count + b.count, first: a.count === 0 ? b.first : a.first };
}

/** Returns the state that misses nothing; the first of two that cannot be compared. */
function older(a: Json | undefined, b: Json | undefined, { as }: Incremental): Json | undefined {
  if (a === undefined || b === undefined) return undefined;
  const [first, second] = [markOf(a, as), markOf(b, as)];
  if (first === undefined || second === undefined) return a;
  return (compareMarks(second, first) ?? 0) < 0 ? b : a;
}

/** Returns the digests of the rows at a state as they are stored: nothing where there are none. */
function rowsEntry(rows: readonly string[]): readonly (readonly [string, Json])[] {
  return rows.length === 0 ? [] : [['rows', rows]];
}

interface KeptParents {
  readonly parents: Map<string, StoredValue>;
  /** Number of entries that cannot be read. */
  readonly unreadable: number;
}

function parentsIn(stored: AnyObject | undefined): KeptParents {
  const all = stored && getKey(stored, 'parents');
  if (all === undefined || !isObject(all) || isList(all)) return { parents: new Map(), unreadable: 0 };
  const entries = entriesOf(all);
  const known = entries.flatMap(([key, node]) => {
    const value = (name: string): Json | undefined => (isObject(node) ? getKey(node, name) : undefined);
    const [cursor, at] = [value('cursor'), value('at')];
    return cursor === undefined || cursor === null
      ? []
      : [[key, { cursor, rows: digestsOf(value('rows')), at: isNumber(at) ? numberOf(at) : 0 }] as const];
  });
  const parents = new Map(known.toSorted(([, a], [, b]) => a.at - b.at));
  return { parents, unreadable: [...entries].length - known.length };
}
