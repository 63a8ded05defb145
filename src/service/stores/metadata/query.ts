import type { Expression, SqlBool } from 'kysely';

/** Functions that join conditions into one, as in the expression builder of the database. */
interface Joins {
  and(all: readonly Expression<SqlBool>[]): Expression<SqlBool>;
  or(choices: readonly Expression<SqlBool>[]): Expression<SqlBool>;
  not(condition: Expression<SqlBool>): Expression<SqlBool>;
}

export type QueryCondition<Build> = (build: Build) => Expression<SqlBool>;

/** A query that cannot be read; the message is for its author. */
export class QuerySyntaxError extends Error {}

/** One thing to look for. */
export interface Term {
  readonly field: string | undefined;
  readonly value: string;
  readonly isQuoted: boolean;
}

/** Translates a term into a condition. `wrong` makes the error for a term without a meaning. */
export type ReadTerm<Build> = (term: Term, wrong: (reason: string) => Error) => QueryCondition<Build>;

/**
 * A query such as `id:123 AND NOT name:"a b"`: terms with or without a field, joined by AND, OR, NOT and brackets,
 * which may follow a field: `tags:(a AND b)`; terms side by side are alternatives, as in the query language that it
 * comes from.
 *
 * @throws {QuerySyntaxError}
 */
export function parseQuery<Build extends Joins>(
  text: string,
  readTerm: ReadTerm<Build>,
): QueryCondition<Build> | undefined {
  if (text.length > MAX_LENGTH)
    throw new QuerySyntaxError(`The query is longer than ${MAX_LENGTH} characters.`);
  const tokens = tokenize(text);
  if (tokens.length === 0) return undefined;
  if (tokens.length > MAX_TOKENS) throw syntaxError(text, `it has more than ${MAX_TOKENS} words`);
  let at = 0;
  let depth = 0;
  const condition = readOr(undefined);
  if (at < tokens.length) throw syntaxError(text, 'a bracket is closed that was not opened');
  return condition;

  // `outer` is the field of the bracket around, for terms that name none.
  function readOr(outer: string | undefined): QueryCondition<Build> {
    const choices = [readAnd(outer)];
    for (;;) {
      const next = tokens[at];
      if (next === undefined || next === ')') break;
      if (next === 'OR') at += 1;
      choices.push(readAnd(outer));
    }
    return (build) => build.or(choices.map((choice) => choice(build)));
  }

  function readAnd(outer: string | undefined): QueryCondition<Build> {
    const all = [readNot(outer)];
    while (tokens[at] === 'AND' || tokens[at] === 'NOT') {
      if (tokens[at] === 'AND') at += 1;
      all.push(readNot(outer));
    }
    return (build) => build.and(all.map((one) => one(build)));
  }

  function readNot(outer: string | undefined): QueryCondition<Build> {
    if (tokens[at] !== 'NOT') return readOne(outer);
    at += 1;
    const inner = deeper(() => readNot(outer));
    return (build) => build.not(inner(build));
  }

  function readOne(outer: string | undefined): QueryCondition<Build> {
    const token = tokens[at];
    at += 1;
    if (token === undefined) throw syntaxError(text, 'it ends where a word is expected');
    if (typeof token === 'string') throw syntaxError(text, `"${token}" stands where a word is expected`);
    if ('value' in token) {
      const term = { ...token, field: token.field ?? outer };
      return readTerm(term, (reason) => syntaxError(text, reason));
    }
    const inner = deeper(() => readOr(token.field ?? outer));
    if (tokens[at] !== ')') throw syntaxError(text, 'a bracket is not closed');
    at += 1;
    return inner;
  }

  function deeper(read: () => QueryCondition<Build>): QueryCondition<Build> {
    depth += 1;
    if (depth > MAX_DEPTH) throw syntaxError(text, `it has more than ${MAX_DEPTH} brackets in brackets`);
    const condition = read();
    depth -= 1;
    return condition;
  }
}

/** Limits that keep a query below those of the database: a thousand levels, and one level for every term. */
const MAX_LENGTH = 10_000;
const MAX_TOKENS = 800;
const MAX_DEPTH = 50;

interface Opening {
  readonly field: string | undefined;
}

type QueryToken = ')' | 'AND' | 'NOT' | 'OR' | Opening | Term;

const TOKEN =
  /\s*(?:(\))|(AND|OR|NOT)(?![^\s()])|([-!+]?)(?:([A-Za-z_][\w.]*):\s*)?(?:(\()|"((?:[^"\\]|\\.)*)"|((?:[^\s()":\\]|\\.)+)))/y;

function tokenize(text: string): QueryToken[] {
  const tokens: QueryToken[] = [];
  const end = text.trimEnd().length;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < end) {
    const start = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (found === null) throw syntaxError(text, `it cannot be read from character ${start + 1}`);
    const [, closing, operator, sign, field, opening, quoted, bare] = found;
    if (closing !== undefined) tokens.push(')');
    else if (operator !== undefined) tokens.push(operator as 'AND' | 'NOT' | 'OR');
    else {
      if (sign === '-' || sign === '!') tokens.push('NOT');
      if (opening !== undefined) {
        tokens.push({ field });
        continue;
      }
      const value = (quoted ?? bare ?? '').replaceAll(/\\(.)/g, '$1');
      tokens.push({ field, value, isQuoted: quoted !== undefined });
    }
  }
  return tokens;
}

/** `*` and `?` stand for any text and any character, unless quoted. */
export function patternOf({ value, isQuoted }: Term): string {
  const literal = value.replaceAll(/[\\%_]/g, '\\$&');
  return isQuoted ? literal : literal.replaceAll('*', '%').replaceAll('?', '_');
}

/**
 * Lowers the letters of a pattern, for a column in lower case: only those of ASCII, because SQLite lowers no others,
 * and neither does PostgreSQL with the byte order of these columns.
 */
export const lowered = (pattern: string): string =>
  pattern.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

function syntaxError(query: string, reason: string): Error {
  return new QuerySyntaxError(`Failed to parse the query "${query}": ${reason}.`);
}
