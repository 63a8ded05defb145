import { option } from '../../../lib/option.ts';
import type { AnyObject } from '../../../lib/json/index.ts';
import { read } from '../pagination-settings.ts';
import type { StopRule } from './compose.ts';

const WORDS = ['stop', 'goOn'] as const;

/** Reads the meaning that the configuration gives a page without rows; undefined when it gives none. */
export function emptyPageOf(options: AnyObject, at: string): (typeof WORDS)[number] | undefined {
  return read.word(options, 'emptyPage', at, WORDS);
}

/**
 * Stops at a page without rows, for methods that would continue: cursors and links.
 *
 * The API gives a token with every page, the last one too:
 *
 *     { "items": [], "token": "x9" }
 *
 * Configuration:
 *
 *     { "pagination": { "method": "response.param", "responseParam": "token", "queryParam": "token", "emptyPage": "stop" } }
 *
 * With `goOn` a page without rows is no end for any method, nor is a short page for `offset` and `pagenum`.
 */
export function emptyPage(options: AnyObject, at: string): StopRule | undefined {
  if (emptyPageOf(options, at) !== 'stop') return undefined;
  return {
    key: 'noRows',
    needs: {},
    check: (page) => (page.rows === 0 ? { stop: { code: 'noRows' } } : { state: null }),
  };
}

export const EMPTY_PAGE = option(
  'Page without rows',
  'Whether a page without rows is the last one. By default it is for `offset` and `pagenum`, and it is not for the others. With `goOn` a short page is no end either.',
  { enum: [...WORDS, '', null], examples: ['stop', 'goOn'] },
);
