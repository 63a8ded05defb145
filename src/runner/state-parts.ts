import type { RowRun } from '../engine/config/index.ts';
import { ConfigError, type Where } from '../lib/errors.ts';
import {
  entriesOf,
  getKey,
  isList,
  isObject,
  objectOf,
  type AnyObject,
  type Json,
} from '../lib/json/index.ts';

/** The state that a row begins with. */
export interface RowState {
  /** State of the component. */
  readonly component: AnyObject;
  /** State of the input mapping. */
  readonly storage: Json | undefined;
}

/**
 * Takes a state apart that is kept with its configuration: `component` and `storage`. One that has neither
 * key is read bare.
 *
 * @throws {ConfigError} `config.invalid` for what is no object, or has other keys beside the two
 */
export function stateParts(state: Json | undefined, row: RowRun): RowState {
  const where = placeOf(row);
  const whole = stateObject(state, 'The stored state', where);
  if (!isWrapped(whole)) return { component: whole, storage: undefined };
  const odd = entriesOf(whole).find(([key]) => !isPart(key));
  if (odd !== undefined)
    throw invalid(`Invalid state: there is “${odd[0]}” beside “component” and “storage”.`, where);
  const component = stateObject(
    getKey(whole, 'component'),
    'The part “component” of the stored state',
    where,
  );
  return { component, storage: getKey(whole, 'storage') };
}

/** Splits a stored state into its parts, whatever it is: a part that is no object is an empty one. */
export function wholeState(state: Json | undefined): {
  readonly component: AnyObject;
  /** Its other parts. */
  readonly others: readonly (readonly [string, Json])[];
} {
  const whole = state !== undefined && isObject(state) ? state : objectOf([]);
  if (!isWrapped(whole)) return { component: whole, others: [] };
  const component = getKey(whole, 'component');
  return {
    component: component !== undefined && isObject(component) ? component : objectOf([]),
    others: entriesOf(whole).filter(([key]) => key !== 'component' && isPart(key)),
  };
}

/** Returns a state in its stored form. */
export function wrappedState(component: AnyObject, others: readonly (readonly [string, Json])[]): AnyObject {
  return objectOf([['component', component], ...others]);
}

const PARTS: ReadonlySet<string> = new Set(['component', 'storage', 'data_app']);

/** Tells whether a stored state may have this key. */
export function isPart(key: string): boolean {
  return PARTS.has(key);
}

function isWrapped(state: AnyObject): boolean {
  return getKey(state, 'component') !== undefined || getKey(state, 'storage') !== undefined;
}

/**
 * Checks that a state is an object; an empty one may be a list, too, as other programs write it.
 *
 * @param what at the beginning of a sentence
 * @throws {ConfigError} `config.invalid`
 */
export function stateObject(state: Json | undefined, what: string, where: Where): AnyObject {
  if (isObject(state)) return state;
  if (state === undefined || state === null || (isList(state) && state.length === 0)) return objectOf([]);
  throw invalid(`${what} is not an object.`, where);
}

export function invalid(message: string, where: Where): ConfigError {
  return new ConfigError('config.invalid', message, {
    where,
    hint:
      where.file === undefined
        ? 'Set it right, or begin anew with: gex run --reset-state. One in a storage is emptied by: gex storage configs state COMPONENT ID --reset.'
        : 'Set it right, or begin anew with: gex run --reset-state.',
  });
}

function placeOf({ id, index }: RowRun): Where {
  return {
    path: index === undefined ? 'state' : `rows[${index}].state`,
    ...(id === undefined ? {} : { row: id }),
  };
}
