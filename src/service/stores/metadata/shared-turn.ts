import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { setImmediate as whatHasArrived } from 'node:timers/promises';
import { DatabaseAway } from '../../platform/database/failures.ts';
import { ApiError } from '../../domain/api-error.ts';
import { isUnderKey } from './idempotency-keys.ts';
import type { Meta } from './database.ts';
import { isRepeating } from './idempotent-replay.ts';
import { inTurn, type Thing } from './transaction.ts';

/** What several requests change in one transaction: it is read once, and written once. */
export interface Shared<State> {
  /** What the transaction is about. Who names the same things shares the same state. */
  readonly things: readonly Thing[];
  read(tx: Meta): Promise<State>;
  /** Writes what they have made of it. */
  write(tx: Meta, state: State): Promise<void>;
}

/** What a request makes of the state that those before it have left. */
interface Made<State, T> {
  readonly state: State;
  readonly result: T;
}

/**
 * Runs work as {@link inTurn} does, and shares its transaction with others of this process that wait for the same
 * things: one reading, one writing, one commit, and one wait for the disk, for all of them. Nobody is told of a change
 * before it is on the disk, nor refused for one, and nobody sees it before. For work that is short: those that share a
 * transaction wait for each other.
 *
 * @param work writes nothing by itself; what it throws as an {@link ApiError} is its own refusal, and undoes nobody
 */
export async function inSharedTurn<State, T>(
  meta: Meta,
  shared: Shared<State>,
  work: (tx: Meta, state: State) => Promise<Made<State, T>>,
): Promise<T> {
  // What is kept of it is kept with its own transaction, and what is known of it needs none.
  if (isOnce()) return await alone(meta, shared, work);
  const name = JSON.stringify(shared.things);
  const queues = queuesOf(meta);
  return await new Promise<T>((resolve, reject) => {
    const member: Member = {
      // In the context of its own request, whoever's transaction it is.
      change: AsyncResource.bind(async (tx: Meta, state: unknown) => {
        // Who names the same things has the same state.
        const made = await work(tx, state as State);
        return { state: made.state, result: () => resolve(made.result) };
      }),
      reject,
    };
    const queue = queues.get(name);
    if (queue !== undefined) {
      queue.push(member);
      return;
    }
    const first = [member];
    queues.set(name, first);
    void outside(async () => await serve(meta, shared, first, () => queues.delete(name)));
  });
}

const isOnce = (): boolean => isUnderKey() || isRepeating();

// A transaction of several requests is a part of none of them.
const outside = AsyncLocalStorage.snapshot();

async function alone<State, T>(
  meta: Meta,
  shared: Shared<State>,
  work: (tx: Meta, state: State) => Promise<Made<State, T>>,
): Promise<T> {
  return await inTurn(meta, shared.things, async (tx) => {
    const { state, result } = await work(tx, await shared.read(tx));
    await shared.write(tx, state);
    return result;
  });
}

interface Member {
  /** @returns the next state, and what tells the result */
  change(tx: Meta, state: unknown): Promise<Made<unknown, () => void>>;
  reject(error: unknown): void;
}

/** Those of one commit: who waits for the first does not wait long for the last. */
const MAX_MEMBERS = 50;

const queuesOfMeta = new WeakMap<Meta, Map<string, Member[]>>();

function queuesOf(meta: Meta): Map<string, Member[]> {
  const known = queuesOfMeta.get(meta);
  if (known !== undefined) return known;
  const queues = new Map<string, Member[]>();
  queuesOfMeta.set(meta, queues);
  return queues;
}

/** Takes all who wait, and those who come meanwhile. It never fails. */
async function serve(meta: Meta, shared: Shared<unknown>, queue: Member[], close: () => void): Promise<void> {
  while (queue.length > 0) {
    // SQLite answers without a wait: without one here, requests that lie in the sockets would never share.
    await whatHasArrived();
    await serveSome(meta, shared, queue);
  }
  // In the same moment: who came between the two would wait for ever.
  close();
}

async function serveSome(meta: Meta, shared: Shared<unknown>, queue: Member[]): Promise<void> {
  const members: Member[] = [];
  let isTheirs = false;
  try {
    const tellers = await inTurn(meta, shared.things, async (tx) => {
      // It may be run again, with those who have come since.
      const done: (() => void)[] = [];
      isTheirs = false;
      let state = await shared.read(tx);
      isTheirs = true;
      for (const member of joining(members, queue)) {
        try {
          const made = await member.change(tx, state);
          state = made.state;
          done.push(made.result);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          done.push(() => member.reject(error));
        }
      }
      await shared.write(tx, state);
      isTheirs = false;
      return done;
    });
    for (const tell of tellers) tell();
  } catch (error) {
    // What one of them has broken is nothing of the others: each is done again by itself.
    if (isTheirs && members.length > 1 && !(error instanceof DatabaseAway))
      for (const member of members) await serveSome(meta, shared, [member]);
    // A transaction that did not even begin would not for those who wait for the next one.
    else for (const member of members.length > 0 ? members : queue.splice(0)) member.reject(error);
  }
}

function* joining(members: Member[], queue: Member[]): Generator<Member> {
  yield* members;
  while (members.length < MAX_MEMBERS) {
    const member = queue.shift();
    if (member === undefined) return;
    members.push(member);
    yield member;
  }
}
