import { sql, type Expression, type SqlBool } from 'kysely';
import { badRequest } from '../errors.ts';
import { hasTag, type FileCondition, type FileExpressions } from './files.ts';

/**
 * A query over files (storage 2.2): `id:123`, `name:a*`, `tags:"x y"`, `runId:1`, bare words (in the name or a tag),
 * joined by AND, OR, NOT and brackets; terms side by side are alternatives, as in the query language it comes from.
 *
 * @throws {ApiError} 400 `query.syntax`
 */
export function parseFileQuery(text: string): FileCondition | undefined {
  const tokens = tokenize(text);
  if (tokens.length === 0) return undefined;
  let at = 0;
  const condition = readOr();
  if (at < tokens.length) throw syntaxError(text, 'a bracket is closed that was not opened');
  return condition;

  function readOr(): FileCondition {
    const choices = [readAnd()];
    for (;;) {
      const next = tokens[at];
      if (next === undefined || next === ')') break;
      if (next === 'OR') at += 1;
      choices.push(readAnd());
    }
    return (build) => build.or(choices.map((choice) => choice(build)));
  }

  function readAnd(): FileCondition {
    const all = [readNot()];
    while (tokens[at] === 'AND' || tokens[at] === 'NOT') {
      if (tokens[at] === 'AND') at += 1;
      all.push(readNot());
    }
    return (build) => build.and(all.map((one) => one(build)));
  }

  function readNot(): FileCondition {
    if (tokens[at] !== 'NOT') return readOne();
    at += 1;
    const inner = readNot();
    return (build) => build.not(inner(build));
  }

  function readOne(): FileCondition {
    const token = tokens[at];
    at += 1;
    if (token === undefined) throw syntaxError(text, 'it ends where a word is expected');
    if (typeof token !== 'string') return conditionOf(token, text);
    if (token !== '(') throw syntaxError(text, `"${token}" stands where a word is expected`);
    const inner = readOr();
    if (tokens[at] !== ')') throw syntaxError(text, 'a bracket is not closed');
    at += 1;
    return inner;
  }
}

interface Term {
  readonly field: string | undefined;
  readonly value: string;
  readonly isQuoted: boolean;
}

type Token = '(' | ')' | 'AND' | 'NOT' | 'OR' | Term;

const TOKEN =
  /\s*(?:([()])|(AND|OR|NOT)(?![^\s()])|([-!+]?)(?:([A-Za-z_][\w.]*):\s*)?(?:"((?:[^"\\]|\\.)*)"|((?:[^\s()":\\]|\\.)+)))/y;

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < end) {
    const start = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (found === null) throw syntaxError(text, `it cannot be read from character ${start + 1}`);
    const [, bracket, operator, sign, field, quoted, bare] = found;
    if (bracket !== undefined) tokens.push(bracket as '(' | ')');
    else if (operator !== undefined) tokens.push(operator as 'AND' | 'NOT' | 'OR');
    else {
      if (sign === '-' || sign === '!') tokens.push('NOT');
      const value = (quoted ?? bare ?? '').replaceAll(/\\(.)/g, '$1');
      tokens.push({ field, value, isQuoted: quoted !== undefined });
    }
  }
  return tokens;
}

function conditionOf({ field, value, isQuoted }: Term, query: string): FileCondition {
  switch (field) {
    case undefined:
      return (build) => build.or([nameHas(build, value, isQuoted), tagIs(build, value, isQuoted)]);
    case 'id':
      if (!/^\d{1,15}$/.test(value)) throw syntaxError(query, `"${value}" is no id`);
      return (build) => build('files.id', '=', Number(value));
    case 'name':
      return (build) => nameHas(build, value, isQuoted);
    case 'tags':
    case 'tag':
      return (build) => tagIs(build, value, isQuoted);
    case 'runId':
      return (build) => build('files.run_id', '=', value);
    default:
      throw syntaxError(query, `"${field}" is no field; there are id, name, tags and runId`);
  }
}

function nameHas(build: FileExpressions, value: string, isQuoted: boolean): Expression<SqlBool> {
  const pattern = `%${patternOf(value, isQuoted).toLowerCase()}%`;
  return sql<SqlBool>`lower(${build.ref('files.name')}) like ${pattern} escape '\\'`;
}

function tagIs(build: FileExpressions, value: string, isQuoted: boolean): Expression<SqlBool> {
  return hasTag(build, (tag) => sql`${tag} like ${patternOf(value, isQuoted)} escape '\\'`);
}

/** `*` and `?` stand for any text and any character, unless quoted. */
function patternOf(value: string, isQuoted: boolean): string {
  const literal = value.replaceAll(/[\\%_]/g, '\\$&');
  return isQuoted ? literal : literal.replaceAll('*', '%').replaceAll('?', '_');
}

function syntaxError(query: string, reason: string): Error {
  return badRequest('query.syntax', `Failed to parse the query "${query}": ${reason}.`);
}
