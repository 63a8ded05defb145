import {
  entriesOf,
  getKey,
  isEmpty,
  isNumber,
  isObject,
  toText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { kindOf } from '../../lib/read-settings.ts';
import { meantOr } from '../../lib/suggest.ts';
import { unusable } from './record-error.ts';

/** Texts of null, true and false in cells. */
export interface CellWords {
  readonly null: string;
  readonly true: string;
  readonly false: string;
}

/** How the rows of a job look in tables, beside what is in them. */
export interface RowLook {
  /** Undefined: nothing for null and false, and 1 for true. */
  readonly words?: CellWords | undefined;
  /** True where the types of the columns are wanted. */
  readonly types?: true | undefined;
  /** The moment of the run, where each row has links of its own: equal rows then have others, in every run. */
  readonly unique?: string | undefined;
}

const WORDS: CellWords = { null: '', true: '1', false: '' };
const JSON_WORDS: CellWords = { null: 'null', true: 'true', false: 'false' };
/** Words of columns with types: false is not null. */
const TYPED_WORDS: CellWords = { null: '', true: 'true', false: 'false' };

/** Makes the text of a cell of a value that is no list and no object. */
export type ScalarText = (value: Json | undefined) => string;

export function scalarText({ words }: RowLook): ScalarText {
  if (words === undefined) return plainText;
  return (value) => {
    if (value === undefined) return '';
    if (value === null) return words.null;
    if (typeof value === 'boolean') return value ? words.true : words.false;
    return toText(value);
  };
}

function plainText(value: Json | undefined): string {
  return value === null || value === undefined ? '' : toText(value);
}

/**
 * Reads `cells` and `links` of a job.
 *
 * @param at JSON path of the job
 * @param startedAt when the run began, in milliseconds since 1970
 * @throws {RecordError}
 */
export function compileLook(settings: AnyObject, at: string, startedAt: number): RowLook {
  const links = getKey(settings, 'links');
  const isUnique = links === 'unique';
  if (!isUnique && links !== 'equal' && !isEmpty(links))
    throw unusable(
      '“links” is "unique" or "equal"',
      `${at}.links`,
      'By default equal records have equal links.',
    );
  const types = compileTypes(getKey(settings, 'types'), `${at}.types`);
  const words =
    compileWords(getKey(settings, 'cells'), `${at}.cells`) ?? (types === true ? TYPED_WORDS : undefined);
  return {
    ...(words === undefined ? {} : { words }),
    ...(types === undefined ? {} : { types }),
    ...(isUnique ? { unique: String(startedAt) } : {}),
  };
}

function compileTypes(node: Json | undefined, at: string): true | undefined {
  if (node === undefined || isEmpty(node)) return undefined;
  if (node === true) return true;
  throw unusable('“types” is true or false', at, 'Without it, all columns are text.');
}

function compileWords(node: Json | undefined, at: string): CellWords | undefined {
  if (node === undefined || isEmpty(node)) return undefined;
  if (node === 'json') return JSON_WORDS;
  if (!isObject(node))
    throw unusable(
      `“cells” cannot be ${kindOf(node)}`,
      at,
      'Write "json", or words such as {"true": "true", "false": "false"}.',
    );
  const known = Object.keys(WORDS);
  return entriesOf(node).reduce<CellWords>((words, [key, value]) => {
    if (!known.includes(key))
      throw unusable(
        `“${key}” is no value that cells have a word for`,
        `${at}.${key}`,
        meantOr(key, known, 'Known are null, true and false.'),
      );
    if (typeof value === 'string' || isNumber(value)) return { ...words, [key]: toText(value) };
    throw unusable(`The word for ${key} is ${kindOf(value)}`, `${at}.${key}`, 'Write it as a text.');
  }, WORDS);
}
