import {
  compilePath,
  getKey,
  isList,
  isObject,
  isScalar,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { ExtractorError } from '../../../lib/errors.ts';
import { discover, type Discovery, type DiscoverOptions } from '../discover.ts';
import type { ListAttempt, ListAttempts } from './attempt.ts';
import { targetOfList, usableOf, type Described } from './configure.ts';
import { signOf, valueOf } from '../signs.ts';
import { isRefusal } from '../endings.ts';
import { fieldsFor, nest, type NestedList } from './nest.ts';

/** Rows above whose lists below are tried, until one has rows. */
const MOST_PARENTS = 3;

/** Asks for each list of a document, one by one; those below others with the ids of the first rows above. */
export async function tryLists(
  described: Described,
  options: Omit<DiscoverOptions, 'target'> & {
    /** Only lists with this in their path, and those above them. */
    readonly select?: string | undefined;
  },
): Promise<ListAttempts> {
  const attempts = new Map<string, ListAttempt>();
  const tops = nest(usableOf(described), true).tops.filter((branch) => isWanted(branch, options.select));
  const all = countOf(tops);
  for (const branch of tops) await tryBranch(branch, [new Map()]);
  return attempts;

  /**
   * @param known values of the placeholders, for some rows above
   * @param above the field of those rows that they are of
   * @returns true where the API knows none of the values
   */
  async function tryBranch(
    branch: NestedList,
    known: readonly ReadonlyMap<string, string>[],
    above?: string,
  ): Promise<boolean> {
    const { list, children } = branch;
    let attempt = UNTRIED;
    let rows: readonly Json[] = [];
    let isRefused = false;
    let own: ReadonlyMap<string, string> = new Map();
    for (const values of known.slice(0, MOST_PARENTS)) {
      own = values;
      const endpoint = branch.endpoint.replace(/\{([^{}]*)\}/g, (_, name: string) =>
        encodeURIComponent(values.get(name) ?? ''),
      );
      const place = `${attempts.size + 1} of ${all}, ${list.path}`;
      ({ attempt, rows, isRefused } = await askedFor({
        ...options,
        onStep: (text) => options.onStep?.(`${place}: ${text}`),
        target: targetOfList(list, endpoint, described),
      }));
      if (rows.length > 0) break;
    }
    attempts.set(list.path, above === undefined ? attempt : { ...attempt, above });
    for (const child of children) await tryChild(child, rows, own);
    return isRefused;
  }

  /** Asks for a list below others; where the API knows none of the ids, with other fields of the rows above. */
  async function tryChild(
    child: NestedList,
    rows: readonly Json[],
    own: ReadonlyMap<string, string>,
  ): Promise<void> {
    const { placeholder, list } = child;
    let first: ListAttempt | undefined;
    for (const field of placeholder === undefined ? [] : fieldsFor(placeholder, rows)) {
      const path = compilePath(field);
      const below = rows.flatMap((row) => {
        const value = path.find(row);
        return placeholder === undefined || value === undefined || !isScalar(value)
          ? []
          : [new Map([...own, [placeholder.name, toText(value)]])];
      });
      if (!(await tryBranch(child, first === undefined ? below : below.slice(0, 1), field))) return;
      first ??= attempts.get(list.path);
    }
    if (first !== undefined) attempts.set(list.path, first);
  }
}

function countOf(branches: readonly NestedList[]): number {
  return branches.reduce((sum, { children }) => sum + 1 + countOf(children), 0);
}

function isWanted({ list, children }: NestedList, select: string | undefined): boolean {
  return (
    select === undefined || list.path.includes(select) || children.some((child) => isWanted(child, select))
  );
}

const UNTRIED: ListAttempt = {
  verdict: 'untried',
  why: 'no row of the list above has an id to ask with',
  rows: 0,
  pages: 0,
  requests: 0,
  total: undefined,
  id: [],
  nextPage: undefined,
  job: undefined,
  pagination: undefined,
};

async function askedFor(
  options: DiscoverOptions,
): Promise<{ readonly attempt: ListAttempt; readonly rows: readonly Json[]; readonly isRefused: boolean }> {
  try {
    const found = await discover(options);
    if ('list' in found)
      return { attempt: attemptOf(found.list), rows: found.list.place.rows, isRefused: false };
    return {
      attempt: { ...UNTRIED, verdict: 'failed', why: 'it answers a description of an API' },
      rows: [],
      isRefused: false,
    };
  } catch (error) {
    options.signal.throwIfAborted();
    if (!(error instanceof ExtractorError)) throw error;
    const why = error.message.split('\n', 1)[0] ?? '';
    return {
      attempt: { ...UNTRIED, verdict: 'failed', why, requests: 1 },
      rows: [],
      isRefused: isRefusal(error.details['status']),
    };
  }
}

function attemptOf(found: Discovery): ListAttempt {
  const { configuration, settled, against, rows, pages, requests } = found;
  // that nothing is in a list says nothing against it
  const isEmpty = found.place.kind === 'list' && found.place.rows.length === 0;
  const parameters = objectAt(configuration, 'parameters');
  const jobs = getKey(objectAt(parameters, 'config'), 'jobs');
  const job = isList(jobs) && isObject(jobs[0]) ? jobs[0] : {};
  const pagination = getKey(objectAt(parameters, 'api'), 'pagination');
  return {
    verdict: isEmpty ? 'empty' : found.verdict,
    why: isEmpty ? '' : against.join(' '),
    rows,
    pages,
    requests,
    total: valueOf(signOf(found.signs, 'total')),
    id: found.key.paths,
    nextPage: settled?.candidate.says,
    job,
    pagination: pagination !== undefined && isObject(pagination) ? pagination : undefined,
  };
}

function objectAt(node: AnyObject, key: string): AnyObject {
  const value = getKey(node, key);
  return isObject(value) ? value : {};
}
