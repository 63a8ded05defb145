import { RecordError } from '../../lib/errors.ts';
import { isList, isObject, JsonSyntaxError, keysOf, parseExact, type Json } from '../../lib/json/index.ts';
import { shownText } from '../../lib/shown-text.ts';

/** Characters of an answer that a message shows. */
const SHOWN = 200;
const SHOWN_KEYS = 20;
/** Bytes in which secrets are looked for. */
const LOOKED_AT = 8192;

/** How what came from outside is shown. */
interface Shown {
  readonly describeUrl: () => string;
  readonly redact: (text: string) => string;
}

/** Describes an answer without the expected rows: its keys, and its beginning. */
export function describeAnswer(envelope: Json, bytes: Uint8Array, { redact }: Shown): string {
  const begins = `begins with: ${beginningOf(bytes, redact)}`;
  if (isList(envelope)) return `The answer is a list and ${begins}`;
  if (!isObject(envelope)) return `The answer is a single value and ${begins}`;
  const keys = keysOf(envelope);
  if (keys.length === 0) return 'The answer is an empty object';
  const shown = keys.slice(0, SHOWN_KEYS).map((key) => `“${shortened(shownText(redact(key)))}”`);
  const more = keys.length > SHOWN_KEYS ? ` and ${keys.length - SHOWN_KEYS} more` : '';
  return `The answer has ${shown.join(', ')}${more} and ${begins}`;
}

/** Creates the error of a body that is not JSON; it names the place in the body as a whole. */
export function notJson(bytes: Uint8Array, cause: Error, { describeUrl, redact }: Shown): RecordError {
  const start = beginningOf(bytes, redact);
  const html = /^<(?:!doctype|html|\?xml)/i.test(start);
  const mistake = cause instanceof JsonSyntaxError ? cause : mistakeIn(bytes, cause);
  return new RecordError(
    'response.notJson',
    `The response is not JSON: ${shownText(mistake.message)}. It begins with: ${start}`,
    {
      cause,
      where: { url: describeUrl() },
      hint: html
        ? 'The API answered with a page for people: check baseUrl, the endpoint and the authentication.'
        : 'Check that the endpoint answers JSON; “api.http.ignoreErrors” lets a status pass with its body as text.',
    },
  );
}

/**
 * Finds the mistake in the whole body: `JSON.parse` counts from the beginning of its input, which may be a part of the
 * body.
 */
function mistakeIn(bytes: Uint8Array, cause: Error): Error {
  try {
    parseExact(Buffer.from(bytes).toString('utf8'));
    return cause;
  } catch (error) {
    return error instanceof JsonSyntaxError ? error : cause;
  }
}

/** Secrets go before the text is cut: half of one would not be known for what it is. */
function beginningOf(bytes: Uint8Array, redact: (text: string) => string): string {
  const text = redact(Buffer.from(bytes.subarray(0, LOOKED_AT)).toString('utf8'));
  return shortened(shownText(text.replace(/\s+/g, ' ').trim()), bytes.length > LOOKED_AT);
}

function shortened(text: string, isLonger = false): string {
  if (text.length <= SHOWN && !isLonger) return text;
  return `${text.slice(0, SHOWN).toWellFormed()} …`;
}
