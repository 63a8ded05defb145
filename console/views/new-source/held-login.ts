import { getKey, isObject, type Json } from '../../../src/lib/json/value.ts';
import type { DoneLogin } from '../../data/person-login.ts';
import { textAt, valueAt } from './edit-json.ts';
import { hasRows } from './plan.ts';

/** Login that a person has made for a source that is not saved yet: what is secret in it is encrypted. */
export interface HeldLogin {
  /** Client and addresses that it was made for, as {@link loginKeyOf} tells it. */
  readonly key: string;
  readonly done: DoneLogin;
}

/**
 * Returns what tells the login of a person from another one: its client and its addresses. Undefined for a document that
 * no person logs in to.
 */
export function loginKeyOf(document: Json): string | undefined {
  const way = ['parameters', 'api', 'authentication'];
  const login = valueAt(document, hasRows(document) ? ['configuration', ...way] : way);
  if (!isObject(login) || getKey(login, 'authorizationUrl') === undefined) return undefined;
  const parts = ['authorizationUrl', 'tokenUrl', 'clientId', '#clientId'].map((key) => textAt(login, [key]));
  // An id that is a secret comes back encrypted, each time otherwise.
  return JSON.stringify(parts.map((part) => (part?.startsWith('GEX::') === true ? 'encrypted' : part)));
}
