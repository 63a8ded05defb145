import { AsyncLocalStorage } from 'node:async_hooks';

// Every transaction passes the driver, and what it waits for goes along with its first statement: a way to the database
// and back less.
const locks = new AsyncLocalStorage<readonly string[]>();

/** Runs work whose transaction begins with these statements. */
export async function beginningWith<T>(statements: readonly string[], work: () => Promise<T>): Promise<T> {
  return await locks.run(statements, work);
}

export const beginning = (): readonly string[] => locks.getStore() ?? [];
