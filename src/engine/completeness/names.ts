import { remember } from '../../lib/remember.ts';

/** A name in lower-case words joined by `_`: `nextPageToken`, `next-page-token` and `Next_Page_Token` are one. */
export const canonical = remember((name) =>
  name
    .replace(PREFIX, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/(?<=.)_$|^_(?=.)/g, '')
    .toLowerCase(),
);

/** Prefix of a vocabulary: `hydra:totalItems`, `opensearch:totalResults`. */
const PREFIX = /^[A-Za-z][\w-]*:(?=\w)/;
