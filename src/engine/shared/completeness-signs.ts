import { ConfigError } from '../../lib/errors.ts';
import { option, optionalText, type OptionSchema } from '../../lib/option.ts';
import { checkKeys } from '../../lib/read-settings.ts';
import { getKey, isEmpty, isList, isObject, type AnyObject, type Json } from '../../lib/json/index.ts';

/** Signs that a user adds by their paths, and paths that are none. */
export interface OwnSigns {
  readonly total: readonly string[];
  readonly pages: readonly string[];
  readonly next: readonly string[];
  readonly more: readonly string[];
  readonly end: readonly string[];
  readonly not: readonly string[];
}

const NO_OWN_SIGNS: OwnSigns = { total: [], pages: [], next: [], more: [], end: [], not: [] };

/** Settings of the completeness of a job, or of all jobs. */
export interface Completeness {
  /** Reason for which doubt is accepted, in words; undefined when it is not. */
  readonly accepted: string | undefined;
  /** True when doubt is an error. */
  readonly isRequired: boolean;
  readonly own: OwnSigns;
}

const paths = (title: string, description: string, example: string): OptionSchema =>
  option(title, description, {
    type: ['array', 'string', 'null'],
    items: { type: 'string' },
    default: [],
    examples: [[example]],
  });

/** JSON Schema of `completeness`, of a job and of `api`. */
export const COMPLETENESS = option(
  'Completeness',
  'What a doubt about having everything leads to, and what says it. "accept": the tables are pushed all the same, and `because` says why. "require": a doubt is an error. By default a doubtful job is not pushed by `gex run`, and a container warns.',
  {
    type: ['string', 'object', 'array', 'null'],
    maxItems: 0,
    if: { type: 'string' },
    then: { enum: ['check', 'accept', 'require', ''] },
    default: 'check',
    examples: [
      'require',
      { mode: 'accept', because: 'the total counts deleted users, too' },
      { notSigns: ['meta.total'] },
    ],
    properties: {
      mode: option('Mode', 'Whether a doubt is checked and tells, is accepted, or is an error.', {
        enum: ['check', 'accept', 'require', null],
        default: 'check',
        examples: ['require'],
      }),
      because: optionalText(
        'Reason of the acceptance',
        'Why a doubt is accepted, in words: it goes into the report.',
        { default: null, examples: ['the total counts deleted users, too'] },
      ),
      total: paths(
        'Further totals',
        'Paths of the response that hold the number of all rows.',
        'info.overall',
      ),
      pages: paths(
        'Further numbers of pages',
        'Paths of the response that hold the number of all pages.',
        'info.sheets',
      ),
      next: paths(
        'Further links and tokens',
        'Paths of the response that have a value while there is a next page.',
        'info.onward',
      ),
      more: paths(
        'Further flags of more',
        'Paths of the response that are true while there is more.',
        'info.unfinished',
      ),
      end: paths(
        'Further flags of the end',
        'Paths of the response that are true on the last page.',
        'info.over',
      ),
      notSigns: paths(
        'No signs',
        'Paths of the response, “header NAME”, “status 202” (also 206 and 304), or “export PATH” of an answer before the files of an export, that say nothing of pages whatever they are called.',
        'meta.total',
      ),
    },
  },
);

const KEYS = ['mode', 'because', 'total', 'pages', 'next', 'more', 'end', 'notSigns'];

/** @throws {ConfigError} naming the key that is wrong */
export function parseCompleteness(value: Json | undefined, at: string, above?: Completeness): Completeness {
  const base = above ?? { accepted: undefined, isRequired: false, own: NO_OWN_SIGNS };
  if (isEmpty(value)) return base;
  if (typeof value === 'string') return { ...base, ...modeOf(value, undefined, at) };
  if (!isObject(value)) throw invalid(at, '`completeness` must be "accept", "require" or an object.');
  const because = getKey(value, 'because');
  if (!isEmpty(because) && typeof because !== 'string')
    throw invalid(`${at}.because`, '`because` must be text.');
  const mode = getKey(value, 'mode');
  if (!isEmpty(mode) && typeof mode !== 'string') throw invalid(`${at}.mode`, MODES);
  checkKeys(value, KEYS, at, invalid);
  const words = typeof because === 'string' && because !== '' ? because : undefined;
  const { own } = base;
  return {
    ...base,
    ...(typeof mode === 'string' && mode !== '' ? modeOf(mode, words, at) : {}),
    own: {
      total: [...own.total, ...pathsOf(value, 'total', at)],
      pages: [...own.pages, ...pathsOf(value, 'pages', at)],
      next: [...own.next, ...pathsOf(value, 'next', at)],
      more: [...own.more, ...pathsOf(value, 'more', at)],
      end: [...own.end, ...pathsOf(value, 'end', at)],
      not: [...own.not, ...pathsOf(value, 'notSigns', at)],
    },
  };
}

const MODES = '`completeness` must be "check", "accept" or "require".';

function modeOf(
  mode: string,
  because: string | undefined,
  at: string,
): Pick<Completeness, 'accepted' | 'isRequired'> {
  if (mode === 'check') return { accepted: undefined, isRequired: false };
  if (mode === 'require') return { accepted: undefined, isRequired: true };
  if (mode === 'accept') return { accepted: because ?? 'the configuration says so', isRequired: false };
  throw invalid(at, MODES);
}

function pathsOf(node: AnyObject, key: string, at: string): readonly string[] {
  const value = getKey(node, key);
  if (isEmpty(value)) return [];
  const list = isList(value) ? value : [value];
  return list.map((path) => {
    if (typeof path === 'string') return path;
    throw invalid(`${at}.${key}`, `\`${key}\` must be a list of paths.`);
  });
}

function invalid(at: string, message: string, hint?: string): ConfigError {
  return new ConfigError('config.invalid', message, { where: { path: at }, hint });
}
