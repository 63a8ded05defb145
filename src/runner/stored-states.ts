import { existsSync } from 'node:fs';
import path from 'node:path';
import { StorageError } from '../lib/errors.ts';
import { entriesOf, isObject, objectOf, parseExact, type AnyObject, type Json } from '../lib/json/index.ts';
import { silentLog } from '../lib/log.ts';
import { openJournal } from './mapping/journal.ts';
import { previousStartOf, readState } from '../engine/sink/state.ts';
import type { StorageClient } from '../storage/client/client.ts';
import type { States } from './row-state.ts';
import type { RowPlace } from './row-place.ts';
import { loginsIn, withLogins } from './logins/state-logins.ts';
import { isPart, stateParts, wholeState } from './state-parts.ts';
import type { ConfigurationPlace } from './stored-configuration.ts';

/**
 * States beside the configuration in the service, wrapped as the API keeps them. No version is made of them. Encrypted
 * values in them stay as they are: the extractor reads none, and so none gets into a file in plain text.
 *
 * A row that is deleted while the configuration runs still runs, as it was when the run began; its state goes nowhere.
 */
export function storedStates(client: StorageClient, place: ConfigurationPlace): States {
  const configurations = client.configurations(place.component);
  const rows = configurations.rows(place.configuration);
  const fetchState = async ({ row }: RowPlace): Promise<Json> => {
    const holder =
      row.id === undefined ? await configurations.detail(place.configuration) : await rows.detail(row.id);
    return holder.state as Json; // as it was parsed
  };
  return {
    async read(at) {
      const state = await fetchState(at).catch((error: unknown) => {
        if (!isGone(error)) throw error;
        return at.row.state;
      });
      const parts = stateParts(state, at.row);
      tellOfOlder(at, parts.component, place);
      return parts;
    },
    async write(at, component, storage, key) {
      try {
        const known = await fetchState(at);
        const logins = loginsIn(wholeState(known).component, 'the stored state');
        const written = parseExact(component);
        const next = isObject(written) ? withLogins(written, logins) : written;
        const changes: [string, Json][] = [['component', next]];
        if (storage !== undefined) changes.push(['storage', storage]);
        const state = objectOf(new Map([...partsOf(known), ...changes]));
        if (at.row.id === undefined) await configurations.updateState(place.configuration, state, { key });
        else await rows.updateState(at.row.id, state, { key });
      } catch (error) {
        if (wasTaken(error)) return;
        if (!isGone(error)) throw error;
        const what = at.row.id === undefined ? 'The configuration' : 'The row, or its configuration,';
        at.log.warn(`${what} has been deleted: its state is not stored`);
      }
    },
  };
}

/**
 * Warns of a state that is older than the last one from this folder: without support for keys, a delayed request of an
 * earlier push may have replaced the newer state.
 */
function tellOfOlder(
  { folder: { previous }, log }: RowPlace,
  stored: AnyObject,
  place: ConfigurationPlace,
): void {
  const journal = openJournal(previous)?.document;
  const file = path.join(previous, 'state.json');
  const isOwn =
    journal?.status === 'done' &&
    journal.origin.isStored &&
    journal.origin.component === place.component &&
    journal.origin.configuration === place.configuration;
  if (!isOwn || !existsSync(file)) return;
  const written = previousStartOf(readState(file, silentLog));
  const found = previousStartOf(stored);
  if (written === undefined || found === undefined || found >= written) return;
  log.warn(
    'The stored state is older than the one that the last run from this folder has stored: it was set back, or a request that came late has replaced the newer one. It is used as it is, so what is asked for may be in the storage already',
    { stored: found, written },
  );
}

function isGone(error: unknown): boolean {
  return error instanceof StorageError && error.code === 'storage.notFound';
}

/** Tells whether an earlier attempt has stored the state; other parts of the state were different then. */
function wasTaken(error: unknown): boolean {
  return (
    error instanceof StorageError &&
    ['storage.idempotency.otherRequest', 'storage.idempotency.answerLost'].includes(error.serviceCode)
  );
}

/**
 * Returns the entries of a state that are kept, whatever it is: the run may have begun without it because it could not
 * be used.
 */
function partsOf(state: Json): readonly (readonly [string, Json])[] {
  return isObject(state) ? entriesOf(state).filter(([key]) => isPart(key)) : [];
}
