import { ActionError } from '../../../lib/errors.ts';
import {
  entriesOf,
  isList,
  isObject,
  JsonSyntaxError,
  parseExact,
  sizeOf,
  type Json,
} from '../../../lib/json/index.ts';
import type { DataPiece } from './command.ts';
import { isItem, nestedParams, pairsOf, type Pair } from './nested.ts';

/** Body of a command in the form that a job has. */
export interface CurlBody {
  readonly kind: 'json' | 'form';
  /** A map, or for JSON a list. */
  readonly params: Json;
}

/**
 * Returns the data as text, as curl sends them: pieces of `-d` joined by `&`, of `--json` by nothing, fields of `-F`
 * written as a form.
 */
export function dataText(pieces: readonly DataPiece[]): string {
  return pieces.reduce((text, piece, index) => {
    const joined = index === 0 || piece.kind === 'json' ? '' : '&';
    return text + joined + encodedPiece(piece);
  }, '');
}

/**
 * @param contentType the header of the command, in lower case and without parameters
 * @throws {ActionError} for a body that is neither JSON nor a form, or that parameters cannot say
 */
export function readBody(
  pieces: readonly DataPiece[],
  contentType: string | undefined,
  warnings: string[],
): CurlBody {
  const text = dataText(pieces);
  if (pieces.some(({ kind }) => kind === 'form')) {
    warnings.push(
      'The fields of -F are sent as a form (application/x-www-form-urlencoded), not as multipart/form-data.',
    );
    return { kind: 'form', params: formParams(text, warnings) };
  }
  const isJson =
    contentType === undefined
      ? pieces.some(({ kind }) => kind === 'json')
      : /[/+-]json(?:-[\d.]+)?$/.test(contentType);
  if (isJson) return { kind: 'json', params: jsonParams(text, warnings) };
  if (contentType !== undefined && contentType !== 'application/x-www-form-urlencoded')
    throw new ActionError(
      'action.invalid',
      `The body of the command is ${contentType}, and a job sends JSON or a form.`,
      {
        hint: 'See whether the API takes application/json too.',
      },
    );
  if (/^\s*[[{]/.test(text) && isJsonText(text)) {
    if (contentType === undefined)
      warnings.push('The body looks like JSON and is sent as such, though the command does not say so.');
    return { kind: 'json', params: jsonParams(text, warnings) };
  }
  return { kind: 'form', params: formParams(text, warnings) };
}

function encodedPiece({ kind, text }: DataPiece): string {
  const equals = text.indexOf('=');
  if (kind === 'form')
    return `${encodeURIComponent(text.slice(0, equals))}=${encodeURIComponent(text.slice(equals + 1))}`;
  if (kind !== 'urlencode') return text;
  if (equals < 0) return encodeURIComponent(text);
  return `${equals === 0 ? '' : `${text.slice(0, equals)}=`}${encodeURIComponent(text.slice(equals + 1))}`;
}

function jsonParams(text: string, warnings: string[]): Json {
  let value: Json;
  try {
    value = parseExact(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new ActionError('action.invalid', `The body of the command is not JSON: ${error.message}.`, {
      hint: 'Check the quotes around it, or send it as a form.',
      cause: error,
    });
  }
  if (!isObject(value) && !isList(value))
    throw new ActionError(
      'action.invalid',
      'The body of the command is a single value, and a job sends an object or a list.',
    );
  const size = isList(value) ? value.length : sizeOf(value);
  if (size === 0 && isObject(value)) warnings.push(EMPTY_BODY);
  else if (holdsEmpty(value)) warnings.push(EMPTY_INSIDE);
  if (holdsFunctions(value))
    warnings.push(
      'An object with the key “function” or “attr” in the body would be taken for a function of the configuration.',
    );
  return value;
}

/** Note on an object without keys as a body. */
export const EMPTY_BODY = 'The body {} is sent as [], which a job without parameters sends.';

/** Note on a body that parameters cannot give back as it is. */
export const EMPTY_INSIDE =
  'An empty object {} inside of the body is sent as []: where the API tells them apart, give the job “body” in place of “params”.';

/** Tells whether an empty object is somewhere in a value. */
export function holdsEmpty(value: Json): boolean {
  if (isList(value)) return value.some(holdsEmpty);
  if (!isObject(value)) return false;
  return sizeOf(value) === 0 || entriesOf(value).some(([, item]) => holdsEmpty(item));
}

function isJsonText(text: string): boolean {
  try {
    parseExact(text);
    return true;
  } catch {
    return false;
  }
}

function formParams(text: string, warnings: string[]): Json {
  const pairs: readonly Pair[] | undefined = pairsOf(text.trim());
  const params = pairs === undefined ? undefined : nestedParams(pairs);
  if (pairs?.some(isItem) === true)
    warnings.push(
      'Lists of the form are sent with numbers: ids[]=1 as ids[0]=1. Most APIs take both for a list.',
    );
  if (params !== undefined) return params;
  throw new ActionError('action.invalid', 'The form of the command cannot be said by parameters.', {
    hint: 'Each part needs a name and a value (a=1&b=2), and each name may come once; a list is a[]=1&a[]=2.',
  });
}

function holdsFunctions(value: Json): boolean {
  if (isList(value)) return value.some(holdsFunctions);
  if (!isObject(value)) return false;
  const entries = entriesOf(value);
  return entries.some(
    ([key, item]) =>
      key === 'function' || (entries.length === 1 && /^(?:attr|time)$/.test(key)) || holdsFunctions(item),
  );
}
