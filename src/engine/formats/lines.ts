import type { Json } from '../../lib/json/index.ts';
import { utf8Pieces, type BodyBytes } from './body.ts';
import { broken, countRows, type FormatRows, type Measured } from './rows.ts';

/**
 * Reads lines of text as rows with one column, `line`. Empty lines are rows, too; the end of the last line begins none.
 */
export function textLines(body: BodyBytes, encoding: string | undefined): FormatRows {
  return {
    chunks: () => chunks(body, encoding),
    *measure(): Generator<undefined, Measured> {
      const rows = yield* countRows(chunks(body, encoding));
      return { rows, envelope: null, header: ['line'] };
    },
  };
}

function* chunks(body: BodyBytes, encoding: string | undefined): Generator<readonly Json[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let rest = '';
  let line = 1;
  try {
    for (const piece of utf8Pieces(body, encoding)) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      line += lines.length;
      if (lines.length > 0) yield lines.map(rowOf);
    }
    rest += decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw broken(
      `The text of the response is not ${encoding ?? 'UTF-8'}, somewhere behind line ${line}.`,
      'Set “csv.encoding” of the job to its encoding, such as "windows-1252".',
      error,
    );
  }
  if (rest !== '') yield [rowOf(rest)];
}

function rowOf(text: string): Json {
  return { line: text.endsWith('\r') ? text.slice(0, -1) : text };
}
