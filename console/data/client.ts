import { createBrowserClient, type BrowserClient } from '../../src/storage/client/browser.ts';
import { BASE } from '../route/router.ts';
import { noteContact } from './contact.ts';
import { endSession } from './session.ts';
import { createStore } from './store.ts';

/** Id of the development branch that is looked at; undefined for the default branch. */
export const branch = createStore<number | undefined>(undefined);

const clients = new Map<number | undefined, BrowserClient>();

/** Returns the client of the chosen branch. */
export function client(): BrowserClient {
  const id = branch.get();
  const known = clients.get(id);
  if (known !== undefined) return known;
  const made = createBrowserClient({
    base: window.location.origin + BASE,
    branch: id,
    onUnauthorized: endSession,
    onContact: noteContact,
  });
  clients.set(id, made);
  return made;
}

export { StorageError } from '../../src/storage/client/browser.ts';
export type * from '../../src/storage/client/browser.ts';
