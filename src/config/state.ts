import { getKey, isObject, type Json } from '../json/index.ts';

/** The parts of a stored state (storage 8.3). */
export interface StoredState {
  /** What the component reads as `in/state.json`. */
  readonly component: Json | undefined;
  /** What the input mapping remembers (`adaptive`). */
  readonly storage: Json | undefined;
}

/** State in a configuration is wrapped, and read bare when it has neither key of the wrapping (design 8.10). */
export function unwrapState(state: Json | undefined): StoredState {
  if (!isObject(state)) return { component: undefined, storage: undefined };
  const component = getKey(state, 'component');
  const storage = getKey(state, 'storage');
  if (component === undefined && storage === undefined) return { component: state, storage: undefined };
  return { component, storage };
}
