import { ConfigError, StorageError } from '../errors.ts';
import {
  entriesOf,
  getKey,
  isList,
  isObject,
  objectOf,
  parseExact,
  sizeOf,
  type AnyObject,
  type Json,
} from '../json/index.ts';
import type { StorageClient } from '../storage/client/client.ts';
import type { States } from './row-state.ts';
import type { RowPlace } from './row-place.ts';
import type { ConfigurationPlace } from './stored-configuration.ts';

/**
 * States beside the configuration in the service, wrapped as storage 8.3 has them. No version is made of them. Encrypted
 * values in them stay as they are: the extractor reads none, and so none gets into a file in plain text.
 */
export function storedStates(client: StorageClient, place: ConfigurationPlace): States {
  const configurations = client.configurations(place.component);
  const rows = configurations.rows(place.configuration);
  const fetchState = async ({ row }: RowPlace): Promise<AnyObject> => {
    const holder =
      row.id === undefined ? await configurations.detail(place.configuration) : await rows.detail(row.id);
    return stateObject(holder.state as Json, row.id); // as it was parsed
  };
  return {
    read: async (at) => wrappedParts(await fetchState(at), at.row.id),
    async write(at, component, storage) {
      try {
        const known = wrapped(await fetchState(at));
        const changes: [string, Json][] = [['component', parseExact(component)]];
        if (storage !== undefined) changes.push(['storage', storage]);
        const state = objectOf(new Map([...entriesOf(known), ...changes]));
        if (at.row.id === undefined) await configurations.updateState(place.configuration, state);
        else await rows.updateState(at.row.id, state);
      } catch (error) {
        if (!(error instanceof StorageError) || error.code !== 'storage.notFound') throw error;
        at.log.warn('The configuration was deleted while it ran: its state is not stored');
      }
    },
  };
}

/** The service keeps an empty state as a list or as an object. */
function stateObject(state: Json | undefined, row: string | undefined): AnyObject {
  if (state === undefined || state === null || (isList(state) && state.length === 0)) return {};
  if (isObject(state)) return state;
  throw invalid('The stored state is not an object.', row);
}

function wrappedParts(
  state: AnyObject,
  row: string | undefined,
): { component: AnyObject; storage: Json | undefined } {
  if (!isWrapped(state)) return { component: state, storage: undefined };
  const odd = entriesOf(state).find(([key]) => !KNOWN.has(key));
  if (odd !== undefined)
    throw invalid(`Invalid state: there is “${odd[0]}” beside “component” and “storage”.`, row);
  return { component: stateObject(getKey(state, 'component'), row), storage: getKey(state, 'storage') };
}

const KNOWN: ReadonlySet<string> = new Set(['component', 'storage', 'data_app']);

/** A bare state is that of the component (design 8.10). */
function isWrapped(state: AnyObject): boolean {
  return getKey(state, 'component') !== undefined || getKey(state, 'storage') !== undefined;
}

function wrapped(state: AnyObject): AnyObject {
  return isWrapped(state) || sizeOf(state) === 0 ? state : {};
}

function invalid(message: string, row: string | undefined): ConfigError {
  return new ConfigError('config.invalid', message, {
    where: { path: 'state', ...(row === undefined ? {} : { row }) },
    hint: 'Set it right, or begin anew with an empty one: gex storage configs state COMPONENT ID --reset, or gex run --reset-state.',
  });
}
