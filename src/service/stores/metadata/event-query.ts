import { sql, type Expression, type ExpressionBuilder, type SqlBool } from 'kysely';
import { lowered, parseQuery, patternOf, type QueryCondition, type ReadTerm } from './query.ts';
import type { EventRow, MetadataTables } from './tables.ts';

type EventExpressions = ExpressionBuilder<MetadataTables, 'events'>;

/** By the names that the API gives them. */
const FIELDS: Readonly<Record<string, keyof EventRow>> = {
  component: 'component',
  configurationId: 'configuration_id',
  event: 'event',
  id: 'id',
  idBranch: 'branch_id',
  message: 'message',
  objectId: 'object_id',
  objectName: 'object_name',
  objectType: 'object_type',
  runId: 'run_id',
  'token.id': 'token_id',
  'token.name': 'token_description',
  type: 'type',
  uuid: 'uuid',
};

const NUMBERS: readonly (keyof EventRow)[] = ['branch_id', 'id', 'token_id'];

/**
 * A query over events: `event:storage.tableCreated`, `token.id:7`, `objectId:"in.c-main"`, bare words
 * (in the message). Of other projects than this service's there are none.
 *
 * @throws {ApiError} 400 `query.syntax`
 */
export const parseEventQuery = (
  text: string,
  projectId: number,
): QueryCondition<EventExpressions> | undefined =>
  parseQuery<EventExpressions>(text, (term, wrong) =>
    term.field === 'project.id' ? () => is(term.value === String(projectId)) : readTerm(term, wrong),
  );

const readTerm: ReadTerm<EventExpressions> = (term, wrong) => {
  const { field = 'message', value } = term;
  const column = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined;
  if (column === undefined)
    throw wrong(`"${field}" is no field; there are ${Object.keys(FIELDS).join(', ')} and project.id`);
  if (NUMBERS.includes(column)) {
    if (!/^\d{1,15}$/.test(value)) throw wrong(`"${value}" is no id`);
    return (build) => build(column, '=', Number(value));
  }
  const pattern = patternOf(term);
  return (build) => {
    const shown = build.ref(column);
    if (column === 'message')
      return sql<SqlBool>`lower(${shown}) like ${lowered(`%${pattern}%`)} escape '\\'`;
    // Only where a sign stands for others: what is equal is found by an index.
    return !term.isQuoted && /[*?]/.test(value)
      ? sql<SqlBool>`${shown} like ${pattern} escape '\\'`
      : build(column, '=', value);
  };
};

const is = (isTrue: boolean): Expression<SqlBool> => sql<SqlBool>`${isTrue ? 1 : 0} = 1`;
