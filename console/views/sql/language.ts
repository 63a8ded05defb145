import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { StreamLanguage } from '@codemirror/language';
import type { Table } from '../../data/client.ts';
import { quoted, sqlName } from './name.ts';

const KEYWORDS = (
  'select from where group by order having limit offset join left right full inner outer cross on using as and or ' +
  'not in is null like ilike between case when then else end distinct union all except intersect with recursive ' +
  'values asc desc nulls first last over partition qualify cast try_cast exists true false filter'
).split(' ');
const KNOWN: ReadonlySet<string> = new Set(KEYWORDS);

/** Colours of SQL: nothing follows from them. */
export const SQL_LANGUAGE = StreamLanguage.define<undefined>({
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match('--')) {
      stream.skipToEnd();
      return 'comment';
    }
    if (stream.match(/^'(?:[^']|'')*'?/)) return 'string';
    if (stream.match(/^"(?:[^"]|"")*"?/)) return 'propertyName';
    if (stream.match(/^\d+(?:\.\d+)?/)) return 'number';
    const word = stream.match(/^[\p{L}_][\p{L}\d_]*/u);
    if (word !== null && word !== false && word !== true)
      return KNOWN.has(word[0].toLowerCase()) ? 'keyword' : null;
    stream.next();
    return null;
  },
});

/** Completes words of SQL, tables, and the columns of the tables that the query names. */
export function completeTables(tables: () => readonly Table[]) {
  return (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/[\w."-]+/);
    if (word === null && !context.explicit) return null;
    const text = context.state.doc.toString().toLowerCase();
    const all = tables();
    const named = all.filter(({ id }) => text.includes(sqlName(id).toLowerCase()));
    const columns = new Map(
      named.flatMap(({ id, columns: own }) => (own ?? []).map((name): [string, string] => [name, id])),
    );
    const options: Completion[] = [
      ...[...columns].map(([name, id]) => ({
        label: /^[a-z_]\w*$/.test(name) && !KNOWN.has(name) ? name : quoted(name),
        type: 'property',
        detail: id,
        boost: 2,
      })),
      ...all.map(({ id }) => ({ label: sqlName(id), type: 'class', detail: 'table', boost: 1 })),
      ...KEYWORDS.map((label) => ({ label: label.toUpperCase(), type: 'keyword' })),
    ];
    return { from: word?.from ?? context.pos, options, validFor: /^[\w."-]*$/ };
  };
}
