import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import type { Transaction } from 'kysely';
import { DatabaseAway } from '../database/failures.ts';
import { isUnderKey } from './claims.ts';
import type { Meta } from './database.ts';
import { isRepeating } from './made-by-request.ts';
import type { Tables } from './tables.ts';
import { inTurn, type Thing } from './transaction.ts';

/**
 * Runs work as {@link inTurn} does, and shares its transaction with others of this process that wait for the same
 * things: one commit, and one wait for the disk, for all of them. Nobody is told of a change before it is on the disk,
 * and nobody sees it before. For work that is short: those that share a transaction wait for each other.
 */
export async function inSharedTurn<T>(
  meta: Meta,
  things: readonly Thing[],
  work: (tx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  // What is kept of it is kept with its own transaction, and what is known of it needs none.
  if (isOnce()) return await inTurn(meta, things, work);
  const name = JSON.stringify(things);
  const queues = queuesOf(meta);
  return await new Promise<T>((resolve, reject) => {
    const member: Member = {
      // In the context of its own request, whoever's transaction it is.
      run: AsyncResource.bind(async (tx) => {
        const result = await work(tx);
        return () => resolve(result);
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
    void outside(async () => await serve(meta, things, first)).finally(() => queues.delete(name));
  });
}

const isOnce = (): boolean => isUnderKey() || isRepeating();

// A transaction of several requests is a part of none of them.
const outside = AsyncLocalStorage.snapshot();

interface Member {
  /** @returns what tells the result */
  run(tx: Transaction<Tables>): Promise<() => void>;
  reject(error: unknown): void;
}

/** Those of one commit: who waits for the first does not wait long for the last. */
const MAX_MEMBERS = 20;

const queuesOfMeta = new WeakMap<Meta, Map<string, Member[]>>();

function queuesOf(meta: Meta): Map<string, Member[]> {
  const known = queuesOfMeta.get(meta);
  if (known !== undefined) return known;
  const queues = new Map<string, Member[]>();
  queuesOfMeta.set(meta, queues);
  return queues;
}

/** Takes all who wait, and those who come meanwhile. It never fails. */
async function serve(meta: Meta, things: readonly Thing[], queue: Member[]): Promise<void> {
  while (queue.length > 0) await serveSome(meta, things, queue);
}

async function serveSome(meta: Meta, things: readonly Thing[], queue: Member[]): Promise<void> {
  const members: Member[] = [];
  let isRefused = false;
  try {
    const tellers = await inTurn(meta, things, async (tx) => {
      // It may be run again, by itself or with those who have come since.
      const done: (() => void)[] = [];
      isRefused = false;
      for (const member of joining(members, queue)) {
        try {
          done.push(await member.run(tx));
        } catch (error) {
          isRefused = !(error instanceof DatabaseAway);
          throw error;
        }
      }
      return done;
    });
    for (const tell of tellers) tell();
  } catch (error) {
    // What one of them was refused for has undone the others: each is done again by itself.
    if (isRefused && members.length > 1)
      for (const member of members) await serveSome(meta, things, [member]);
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
