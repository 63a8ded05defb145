import { sql, type Expression, type SqlBool } from 'kysely';
import { hasTag, type FileCondition, type FileExpressions } from './files.ts';
import { lowered, parseQuery, patternOf, type ReadTerm, type Term } from './query.ts';

/**
 * A query over files: `id:123`, `name:a*`, `tags:"x y"`, `runId:1`, bare words (in the name or a tag).
 *
 * @throws {ApiError} 400 `query.syntax`
 */
export const parseFileQuery = (text: string): FileCondition | undefined => parseQuery(text, readTerm);

const readTerm: ReadTerm<FileExpressions> = (term, wrong) => {
  const { field, value } = term;
  switch (field) {
    case undefined:
      return (build) => build.or([nameHas(build, term), tagIs(build, term)]);
    case 'id':
      if (!/^\d{1,15}$/.test(value)) throw wrong(`"${value}" is no id`);
      return (build) => build('files.id', '=', Number(value));
    case 'name':
      return (build) => nameHas(build, term);
    case 'tags':
    case 'tag':
      return (build) => tagIs(build, term);
    case 'runId':
      return (build) => build('files.run_id', '=', value);
    default:
      throw wrong(`"${field}" is no field; there are id, name, tags and runId`);
  }
};

function nameHas(build: FileExpressions, term: Term): Expression<SqlBool> {
  const pattern = lowered(`%${patternOf(term)}%`);
  return sql<SqlBool>`lower(${build.ref('files.name')}) like ${pattern} escape '\\'`;
}

function tagIs(build: FileExpressions, term: Term): Expression<SqlBool> {
  return hasTag(build, (tag) => sql`${tag} like ${patternOf(term)} escape '\\'`);
}
