import { Type } from 'typebox';
import { columnNameProblem, MAX_GIVEN_NAME, webalize, webalizeDisplayName } from '../../../lib/names.ts';
import type { Context } from '../../domain/context.ts';
import { ApiError, invalidRequestText, notImplemented } from '../../domain/api-error.ts';
import { nextId } from '../../stores/metadata/counter.ts';
import { route, type Route } from '../route.ts';

/** Makes the routes of tickets and names, and those that this service answers with 501. */
export function miscRoutes(context: Context): Route[] {
  return [
    route({
      method: 'POST',
      path: '/tickets',
      summary: 'A number that no one else gets, as text: for run ids',
      tag: 'Tickets',
      status: 201,
      response: Type.Object({ id: Type.String() }),
      handle: async () => ({ id: String(await nextId(context.meta)) }),
    }),
    ...nameRoutes(),
    ...NOT_SUPPORTED.map(({ methods, path, what }) =>
      methods.map((method) => unsupported(method, path, what)),
    ).flat(),
  ];
}

function nameRoutes(): Route[] {
  const tag = 'Names';
  const columns = Type.Object({ columnNames: Type.Array(Type.String({ maxLength: MAX_GIVEN_NAME })) });
  return [
    route({
      method: 'POST',
      path: '/webalize/display-name',
      summary: 'The name that a bucket or table would have',
      tag,
      body: Type.Object({ displayName: Type.String({ maxLength: MAX_GIVEN_NAME }) }),
      response: Type.Object({ displayName: Type.String() }),
      handle: ({ body }) => {
        const displayName = webalizeDisplayName(body.displayName);
        if (displayName === '')
          throw new ApiError(
            422,
            'storage.webalize.displayName.invalid',
            'Filtered name "" should be valid name',
          );
        return { displayName };
      },
    }),
    route({
      method: 'POST',
      path: '/webalize/column-names',
      summary: 'The names that columns would have',
      tag,
      body: columns,
      response: columns,
      handle: ({ body }) => ({ columnNames: body.columnNames.map(webalize) }),
    }),
    route({
      method: 'POST',
      path: '/validate/column-names',
      summary: 'Whether names may be those of columns',
      tag,
      body: Type.Object({ columnNames: Type.Array(Type.Union([Type.String(), Type.Null()])) }),
      handle: ({ body }) => {
        const errors = body.columnNames.flatMap((name, index) => {
          const message = columnNameMessage(name);
          return message === undefined ? [] : [{ key: `columnNames[${index}]`, message }];
        });
        if (errors.length > 0)
          throw new ApiError(422, 'storage.validation', invalidRequestText(errors), { errors });
        return undefined;
      },
    }),
  ];
}

/** Returns the message in the words that the public API has for the names of buckets and tables. */
function columnNameMessage(name: unknown): string | undefined {
  if (name === null) return 'This value should not be blank.';
  if (typeof name !== 'string') return 'This value should be of type string.';
  const problem = columnNameProblem(name);
  if (problem === undefined) return undefined;
  if (name.trim() === '') return 'This value should not be blank.';
  if (!/^[A-Za-z0-9_]+$/.test(name))
    return `'${name}' contains not allowed characters. Only alphanumeric characters and underscores are allowed.`;
  if (name.startsWith('_')) return `'${name}' contains not allowed characters. Cannot start with underscore.`;
  return `'${name}' ${problem}.`;
}

type Method = Route['method'];
const ALL: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE'];

const NOT_SUPPORTED: readonly { methods: readonly Method[]; path: string; what: string }[] = [
  { methods: ['GET'], path: '/stats', what: 'Statistics of a run' },
  { methods: ALL, path: '/workspaces', what: 'A workspace' },
  { methods: ALL, path: '/workspaces/*', what: 'A workspace' },
  { methods: ['GET', 'POST'], path: '/tables/:table/snapshots', what: 'A snapshot' },
  { methods: ['GET', 'DELETE'], path: '/snapshots/:snapshot', what: 'A snapshot' },
  { methods: ['PUT'], path: '/tables/:table/definition', what: 'Changing the definition of a whole table' },
  {
    methods: ['GET'],
    path: '/components/:component/configs/:configuration/diff',
    what: 'The difference of branches',
  },
  {
    methods: ['POST'],
    path: '/components/:component/configs/:configuration/rebase',
    what: 'Rebasing a configuration',
  },
];

function unsupported(method: Method, path: string, what: string): Route {
  const refuse = (): never => {
    throw notImplemented(what);
  };
  return route({
    method,
    path,
    summary: `${what}: not supported`,
    tag: 'Not supported',
    isRaw: true,
    judge: refuse,
    handle: refuse,
  });
}
