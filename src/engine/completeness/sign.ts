import type { Strength } from './signs.ts';

/** Signal about pages in an answer, with its path: `meta.total`, or `header Link`. */
export type Sign = { readonly path: string; readonly strength: Strength } &
  /** `isBound`: the value is a lower bound. */
  (
    | { readonly kind: 'total'; readonly value: number; readonly isBound?: true }
    | {
        readonly kind: 'remaining' | 'pages' | 'page' | 'size' | 'offset' | 'position';
        readonly value: number;
      }
    /** There is a next or a previous page; `end` and `noNext`: there is none. */
    | { readonly kind: 'next' | 'previous' | 'more' | 'end' | 'noNext' | 'partial' }
    /** `text` is what the answer says of the error. */
    | { readonly kind: 'error' | 'message'; readonly text: string }
  );

export type SignKind = Sign['kind'];
