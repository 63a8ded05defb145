import { Type } from 'typebox';
import { namesOf } from '../../../storage/protocol/common.ts';
import {
  ChangeNote,
  ConfigurationRow,
  RowCopy,
  RowCreate,
  RowUpdate,
  RowVersion,
  StateUpdate,
  VersionsQuery,
} from '../../../storage/protocol/configuration.ts';
import {
  changeOf,
  chosenId,
  contentsOf,
  keyFrom,
  readStateBody,
  versionOf,
} from '../parsing/configuration.ts';
import type { Context } from '../../domain/context.ts';
import { badRequest } from '../../domain/api-error.ts';
import { nextId } from '../../stores/metadata/counter.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { copyRow } from '../../domain/configurations/copy.ts';
import {
  listRows,
  listRowVersions,
  requireConfiguration,
  requireRow,
  requireRowVersion,
} from '../../domain/configurations/read-configuration.ts';
import {
  createRow,
  deleteRow,
  rollbackRow,
  updateRow,
  updateRowState,
} from '../../domain/configurations/rows.ts';
import { routesOf, type Route } from '../route.ts';
import { sealContents, storedRowContents } from '../parsing/seal-contents.ts';
import type { Reply } from '../../domain/reply.ts';
import type { LoadedRow } from '../../domain/configurations/model.ts';
import { rowReply, rowVersionReply } from '../../domain/presenters/configuration.ts';

const route = routesOf('Configuration rows');
const validationCode = 'storage.components.validation';

/** Makes the routes of the rows of a configuration and their versions. */
export function configurationRowRoutes(context: Context): Route[] {
  const { meta } = context;
  const rows = '/components/:component/configs/:configuration/rows' as const;
  const row = `${rows}/:row` as const;
  return [
    route('GET', rows, {
      summary: 'The rows of a configuration, in their order',
      response: Type.Array(ConfigurationRow),
      handle: async ({ params, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        return (await listRows(meta, await requireConfiguration(meta, key))).map(wholeRow);
      },
    }),
    route('POST', rows, {
      summary: 'Adds a row',
      status: 201,
      body: RowCreate,
      response: ConfigurationRow,
      validationCode,
      handle: async ({ params, body, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        const id = chosenId(body.rowId, 'rowId') ?? (await newRowId(meta));
        const given = { ...fieldsOf(body), ...(await sealContents(context, key, contentsOf(body))) };
        return wholeRow(
          await createRow(
            call.transact,
            key,
            id,
            given,
            changeOf(context, call.caller, body.changeDescription),
          ),
        );
      },
    }),
    route('PUT', rows, {
      summary: 'Refused: an update needs the id of a row',
      handle: () => {
        throw badRequest(validationCode, 'The id of the row is missing in the path.');
      },
    }),
    route('GET', row, {
      isForRuns: true,
      summary: 'A row',
      response: ConfigurationRow,
      handle: async ({ params, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        await requireConfiguration(meta, key);
        return wholeRow(await requireRow(meta, key, params.row));
      },
    }),
    route('PUT', row, {
      summary: 'Changes a row; what is left out stays',
      body: RowUpdate,
      response: ConfigurationRow,
      validationCode,
      handle: async ({ params, body, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        if (body.state !== undefined && call.branch.is_default !== 1)
          throw badRequest(
            'storage.componentsRows.validation',
            'Invalid parameters - state: This field was not expected.',
          );
        const contents = await sealContents(context, key, contentsOf(body), () =>
          storedRowContents(meta, key, params.row),
        );
        const given = { ...fieldsOf(body), ...contents, ifVersion: body.ifVersion };
        const change = changeOf(context, call.caller, body.changeDescription);
        return wholeRow(await updateRow(call.transact, key, params.row, given, change));
      },
    }),
    route('PUT', `${row}/state`, {
      isForRuns: true,
      summary: 'Sets the state of a row; makes no version',
      isRaw: true,
      body: StateUpdate,
      response: ConfigurationRow,
      handle: async ({ params, request, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        const given = { state: await readStateBody(request, 'row') };
        const { state } = await sealContents(context, key, given, () =>
          storedRowContents(meta, key, params.row),
        );
        return wholeRow(
          await updateRowState(
            call.transact,
            key,
            params.row,
            state,
            changeOf(context, call.caller, undefined),
          ),
        );
      },
    }),
    route('DELETE', row, {
      summary: 'Deletes a row for good',
      body: ChangeNote,
      handle: async ({ params, body, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        await deleteRow(
          call.transact,
          key,
          params.row,
          changeOf(context, call.caller, body.changeDescription),
        );
        return undefined;
      },
    }),
    route('GET', `${row}/versions`, {
      summary: 'The versions of a row, the newest first',
      query: VersionsQuery,
      response: Type.Array(RowVersion),
      handle: async ({ params, query, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        await requireConfiguration(meta, key);
        await requireRow(meta, key, params.row);
        const page = { limit: query.limit ?? 100, offset: query.offset ?? 0 };
        const withContent = namesOf(query.include).includes('configuration');
        const versions = await listRowVersions(meta, key, params.row, page);
        return versions.map((version) => rowVersionReply(version, withContent));
      },
    }),
    route('GET', `${row}/versions/:version`, {
      summary: 'A version of a row with its content',
      response: RowVersion,
      handle: async ({ params, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        await requireConfiguration(meta, key);
        await requireRow(meta, key, params.row);
        const version = await requireRowVersion(meta, key, params.row, versionOf(params.version));
        return rowVersionReply(version, true);
      },
    }),
    route('POST', `${row}/versions/:version/rollback`, {
      summary: 'Makes an older version of a row the newest one',
      status: 201,
      body: ChangeNote,
      response: ConfigurationRow,
      handle: async ({ params, body, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        const change = changeOf(context, call.caller, body.changeDescription);
        return wholeRow(await rollbackRow(call.transact, key, params.row, versionOf(params.version), change));
      },
    }),
    route('POST', `${row}/versions/:version/create`, {
      summary: 'Makes a new row of a version, here or in another configuration',
      status: 201,
      body: RowCopy,
      response: ConfigurationRow,
      handle: async ({ params, body, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        const target =
          body.targetConfigId === undefined || body.targetConfigId === ''
            ? params.configuration
            : body.targetConfigId;
        const from = { ...key, row: params.row, version: versionOf(params.version) };
        const to = { configuration: target, row: await newRowId(meta) };
        return wholeRow(
          await copyRow(call.transact, from, to, changeOf(context, call.caller, body.changeDescription)),
        );
      },
    }),
  ];
}

const wholeRow = (row: LoadedRow): Reply => rowReply(row, { withContent: true, withState: true });

/**
 * Makes the id of a row: digits, of the same length in each, so that rows are listed in the order of their creation.
 */
async function newRowId(meta: Meta): Promise<string> {
  return String(FIRST_ROW_ID + (await nextId(meta)));
}

const FIRST_ROW_ID = 1_000_000_000;

function fieldsOf(body: {
  readonly name?: string;
  readonly description?: string;
  readonly isDisabled?: boolean;
}): {
  name?: string;
  description?: string;
  isDisabled?: boolean;
} {
  const { name, description, isDisabled } = body;
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(isDisabled === undefined ? {} : { isDisabled }),
  };
}
