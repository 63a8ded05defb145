/**
 * Possible remedies for an API that gave no list, as facts: on the command line it is an option, in the console a field
 * of the page, and each of them has its own words.
 */
export type Advice =
  /**
   * A login is wanted, or the one that was given is refused; `kind` where the API says which it wants: `oauth` is a token
   * that an authorization server gives, `other` one that no configuration can express, such as NTLM.
   */
  | {
      readonly code: 'login';
      readonly isRefused: boolean;
      readonly kind?: 'basic' | 'bearer' | 'oauth' | 'other' | undefined;
      /** Address at which a person logs in, where the API names it. */
      readonly authorizationUrl?: string | undefined;
      /** Name of a header that the refusal speaks of: `X-Api-Key`. */
      readonly header?: string | undefined;
      /** Challenge of the API in its own words (`WWW-Authenticate`). */
      readonly challenge?: string | undefined;
    }
  /** The login is known, and may not read this. */
  | { readonly code: 'rights'; readonly challenge?: string | undefined }
  /** There is nothing at the address. */
  | { readonly code: 'address' }
  /** The address wants another method, most likely a POST. */
  | { readonly code: 'method' }
  /** Something is missing in the request: a parameter, a header. */
  | { readonly code: 'request' }
  /** No more requests are allowed for now. */
  | { readonly code: 'limit' }
  /** The fault is on the side of the API. */
  | { readonly code: 'fault' }
  /** The answer is in a format that is not read; an empty type is not known. */
  | { readonly code: 'format'; readonly type: string }
  /** The answer is a page for people, `ledTo` where the API led elsewhere. */
  | { readonly code: 'page'; readonly ledTo?: string | undefined }
  /** A login that was given is not written as one. */
  | { readonly code: 'loginForm'; readonly isEmpty: boolean }
  /** A header that was given is not written as one. */
  | { readonly code: 'headerForm' };

/** Unknown property of a list that was read, or a task for a person. */
export type OpenPoint =
  /** A sentence that is true everywhere. */
  | { readonly code: 'note'; readonly text: string }
  /** The requests that were allowed are used up, and more of them may find out more. */
  | { readonly code: 'requestsSpent' }
  /** The list is longer than these requests; of one that counts its rows, the last page was looked at. */
  | { readonly code: 'longer'; readonly isEndSeen: boolean };

/** The advice of an error, where it has one. */
export function adviceIn(details: Readonly<Record<string, unknown>>): Advice | undefined {
  // Only an advice is ever stored under this key.
  return details['advice'] as Advice | undefined;
}
