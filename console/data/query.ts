import {
  keepPreviousData,
  notifyManager,
  QueryClient,
  QueryObserver,
  type QueryKey,
  type QueryObserverOptions,
  type QueryObserverResult,
} from '@tanstack/query-core';
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { areChangesTold, followChanges, tellOfChanges, type Topic } from './changes.ts';
import { branch, StorageError } from './client.ts';
import { contact } from './contact.ts';
import { sessionState } from './session.ts';

/** Cache of queries to the service. The client retries by itself, so nothing is retried here. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: 5000, gcTime: 300_000, networkMode: 'always' },
    mutations: { retry: false, networkMode: 'always' },
  },
});
queries.mount();

// Signed in again, or the service is there again: what failed meanwhile is asked for anew.
sessionState.subscribe(() => {
  if (sessionState.get()?.kind === 'in') void queries.invalidateQueries();
});
contact.subscribe(() => {
  if (contact.get() === 'there') void queries.invalidateQueries();
});

tellOfChanges({
  onChange(topics) {
    void queries.invalidateQueries({
      predicate: ({ meta }) =>
        // Set by `useQuery`.
        ((meta?.['topics'] ?? []) as readonly Topic[]).some(
          (topic) => topics === 'all' || topics.includes(topic),
        ),
    });
  },
});

export interface QueryOptions<T> {
  /** Key, from the general to the particular: `['tables', id, 'preview']`. The branch is added. */
  readonly key: QueryKey;
  readonly load: (signal: AbortSignal) => Promise<T>;
  /** Asked again after so many milliseconds while the page is seen; `false` never. Default: never. */
  readonly everyMs?: number | false | ((data: T | undefined) => number | false);
  readonly isEnabled?: boolean;
  /** Asked again when something of this kind, or of one of these, changes; `everyMs` is for when the service does not tell. */
  readonly topic?: Topic | readonly Topic[];
  /** Asked anew by everyone who begins to look, however short ago it was answered. Default: false. */
  readonly isAnew?: boolean;
  /** Keeps what was shown until the answer to another question is there. Default: false. */
  readonly keepsPrevious?: boolean;
}

/** Returns the result of a query and its progress: `data`, `error`, `isPending`, `isFetching`, `refetch()`. */
export function useQuery<T>({
  key,
  load,
  everyMs,
  isEnabled = true,
  topic,
  isAnew = false,
  keepsPrevious = false,
}: QueryOptions<T>): QueryObserverResult<T> {
  const options: QueryObserverOptions<T> = {
    queryKey: [branch.get() ?? 'default', ...key],
    queryFn: async ({ signal }) => await load(signal),
    enabled: isEnabled,
    ...(isAnew ? { staleTime: 0 } : {}),
    ...(everyMs === undefined
      ? {}
      : {
          refetchInterval: ({ state }) => {
            if (topic !== undefined && areChangesTold()) return false;
            return typeof everyMs === 'function' ? everyMs(state.data) : everyMs;
          },
        }),
    ...(topic === undefined ? {} : { meta: { topics: [topic].flat() } }),
    ...(keepsPrevious ? { placeholderData: keepPreviousData } : {}),
  };
  const defaulted = queries.defaultQueryOptions(options);
  defaulted._optimisticResults = 'optimistic';
  const observer = useMemo(() => new QueryObserver(queries, defaulted), []);
  const [, setCount] = useState(0);
  useLayoutEffect(() => observer.setOptions(defaulted));
  useEffect(
    () => observer.subscribe(notifyManager.batchCalls(() => setCount((count) => count + 1))),
    [observer],
  );
  useEffect(() => (topic === undefined || !isEnabled ? undefined : followChanges()), [topic, isEnabled]);
  return observer.getOptimisticResult(defaulted);
}

/** Asks again for all whose key begins so. */
export async function invalidate(...key: readonly unknown[]): Promise<void> {
  await queries.invalidateQueries({ queryKey: [branch.get() ?? 'default', ...key] });
}

/** Drops what is known of something that is no more: asking again would only tell that it is gone. */
export function forget(...key: readonly unknown[]): void {
  queries.removeQueries({ queryKey: [branch.get() ?? 'default', ...key] });
}

/** Gives the answer to a question that nobody had to ask: who follows something is told of it. */
export function put(data: unknown, ...key: readonly unknown[]): void {
  queries.setQueryData([branch.get() ?? 'default', ...key], data);
}

export interface Action<Input, Output> {
  /** Runs the action; undefined when it failed, with the reason in `error`. */
  run(input: Input): Promise<Output | undefined>;
  readonly isRunning: boolean;
  readonly error: unknown;
  reset(): void;
}

/** Returns an action that the user starts, and that runs only once at a time. */
export function useAction<Input, Output>(work: (input: Input) => Promise<Output>): Action<Input, Output> {
  const [state, setState] = useState<{ isRunning: boolean; error: unknown }>({
    isRunning: false,
    error: undefined,
  });
  return {
    ...state,
    reset: () => setState({ isRunning: false, error: undefined }),
    async run(input) {
      setState({ isRunning: true, error: undefined });
      try {
        const output = await work(input);
        setState({ isRunning: false, error: undefined });
        return output;
      } catch (error) {
        setState({ isRunning: false, error });
        return undefined;
      }
    },
  };
}

/** An error in words: what happened, and what to do. */
export interface Words {
  readonly message: string;
  readonly hint?: string | undefined;
  /** Reference by which an operator of the service finds the error in the log. */
  readonly reference?: string | undefined;
}

export function wordsOf(error: unknown): Words {
  if (error instanceof StorageError) {
    const { exceptionId } = error.details;
    return {
      message: error.message,
      hint: error.hint,
      reference: typeof exceptionId === 'string' ? exceptionId : undefined,
    };
  }
  return { message: error instanceof Error ? error.message : String(error) };
}
