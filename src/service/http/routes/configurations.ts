import { Type } from 'typebox';
import {
  ChangeNote,
  Configuration,
  ConfigurationCreate,
  ConfigurationUpdate,
  StateUpdate,
} from '../../../storage/protocol/configuration.ts';
import {
  ConfigurationBriefs,
  ConfigurationBriefsQuery,
  ConfigurationNames,
} from '../../../storage/protocol/configuration-brief.ts';
import { RawJson, type Reply } from '../../domain/reply.ts';
import { changeOf, chosenId, contentsOf, keyFrom, readStateBody } from '../parsing/configuration.ts';
import { readConfigurationBriefs, readConfigurationNames } from '../../domain/configurations/briefs.ts';
import type { Context } from '../../domain/context.ts';
import { accessDenied, badRequest, notImplemented } from '../../domain/api-error.ts';
import { newIdentifier } from '../../stores/metadata/identifier.ts';
import { resetToDefault } from '../../domain/configurations/copy.ts';
import { findBranch } from '../../stores/metadata/branches.ts';
import type { LoadedConfiguration, WholeConfiguration } from '../../domain/configurations/model.ts';
import { listConfigurationTexts } from '../lists/configurations.ts';
import { listOf, longJson } from '../lists/long-list.ts';
import {
  contentOf,
  listRows,
  requireAtVersion,
  requireConfiguration,
  requireWhole,
} from '../../domain/configurations/read-configuration.ts';
import {
  createConfiguration,
  deleteConfiguration,
  restoreConfiguration,
  updateConfiguration,
  updateState,
} from '../../domain/configurations/write.ts';
import { mayUseComponent, requireAnyComponent } from '../../domain/tokens/permissions.ts';
import type { Caller } from '../../domain/tokens/caller.ts';
import { routesOf, type Route } from '../route.ts';
import { sealContents, storedContents } from '../parsing/seal-contents.ts';
import { configurationReply } from '../../domain/presenters/configuration.ts';
import { isOwnConfiguration } from '../../stores/metadata/run-limits.ts';

const route = routesOf('Configurations');
const validationCode = 'storage.components.validation';

/** Returns the names of the components that the caller may use, by id. @throws {ApiError} 403 for one without any */
function componentsFor({ catalogue }: Context, caller: Caller): ReadonlyMap<string, string> {
  requireAnyComponent(caller);
  const shown = catalogue.components.filter(({ id }) => mayUseComponent(caller, id));
  return new Map(shown.map(({ id, name }) => [id, name]));
}

/** Makes the routes of the configurations of a component. */
export function configurationRoutes(context: Context): Route[] {
  const { meta, env } = context;
  return [
    route('GET', '/configurations/brief', {
      summary: 'Configurations of all components page by page, with what lists show of each',
      query: ConfigurationBriefsQuery,
      response: ConfigurationBriefs,
      handle: async ({ query, caller, branch }) => {
        const shown = componentsFor(context, caller);
        return new RawJson(JSON.stringify(await readConfigurationBriefs(meta, branch.id, shown, query)));
      },
    }),
    route('GET', '/configurations/names', {
      summary: 'The names of all configurations, by component',
      response: ConfigurationNames,
      handle: async ({ caller, branch }) => {
        const shown = componentsFor(context, caller);
        return new RawJson(JSON.stringify(await readConfigurationNames(meta, branch.id, shown)));
      },
    }),
    route('GET', '/components/:component/configs', {
      summary: 'The configurations of a component',
      query: Type.Object({ isDeleted: Type.Optional(Type.Boolean({ description: 'Those in the trash.' })) }),
      response: Type.Array(Configuration),
      handle: async ({ params, query, ...call }) => {
        const { branch_id, component_id } = keyFrom(context, call, params.component, '');
        const of = { branchId: branch_id, componentId: component_id, isDeleted: query.isDeleted ?? false };
        const parts = { configuration: true, rows: true, state: true };
        return await longJson(listOf(listConfigurationTexts(meta, of, parts)));
      },
    }),
    route('POST', '/components/:component/configs', {
      summary: 'Creates a configuration',
      status: 201,
      body: ConfigurationCreate,
      response: Configuration,
      validationCode,
      handle: async ({ params, body, ...call }) => {
        const id = chosenId(body.configurationId, 'configurationId') ?? newIdentifier(env);
        const key = keyFrom(context, call, params.component, id);
        const change = changeOf(context, call.caller, body.changeDescription);
        const { name, description, isDisabled } = body;
        const given = {
          name,
          description,
          isDisabled,
          ...(await sealContents(context, key, contentsOf(body))),
        };
        return await wholeConfiguration(
          context,
          await createConfiguration(call.transact, key, given, change),
        );
      },
    }),
    route('PUT', '/components/:component/configs', {
      summary: 'Refused: an update needs the id of a configuration',
      handle: () => {
        throw badRequest(validationCode, 'The id of the configuration is missing in the path.');
      },
    }),
    route('GET', '/components/:component/configs/:configuration', {
      isForRuns: true,
      summary: 'A configuration',
      response: Configuration,
      handle: async ({ params, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        const { runLimits } = call.caller;
        if (runLimits?.version !== undefined && isOwnConfiguration(runLimits, key))
          return configurationReply(await requireAtVersion(meta, key, runLimits.version), {
            withState: true,
          });
        return await wholeReply(context, await requireWhole(meta, key));
      },
    }),
    route('PUT', '/components/:component/configs/:configuration', {
      summary: 'Changes a configuration; what is left out stays',
      body: ConfigurationUpdate,
      response: Configuration,
      validationCode,
      handle: async ({ params, body, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        const change = changeOf(context, call.caller, body.changeDescription);
        const { name, description, isDisabled, rowsSortOrder, ifVersion } = body;
        const contents = await sealContents(context, key, contentsOf(body), () => storedContents(meta, key));
        const given = { name, description, isDisabled, rowsSortOrder, ifVersion, ...contents };
        return await wholeReply(
          context,
          await updateConfiguration({ meta, transact: call.transact }, key, given, change),
        );
      },
    }),
    route('PUT', '/components/:component/configs/:configuration/state', {
      isForRuns: true,
      summary: 'Sets the state; makes no version',
      isRaw: true,
      body: StateUpdate,
      response: Configuration,
      handle: async ({ params, request, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        const given = { state: await readStateBody(request, 'configuration') };
        const { state } = await sealContents(context, key, given, () => storedContents(meta, key));
        return await wholeReply(
          context,
          await updateState(
            { meta, transact: call.transact },
            key,
            state,
            changeOf(context, call.caller, undefined),
          ),
        );
      },
    }),
    route('DELETE', '/components/:component/configs/:configuration', {
      summary: 'Moves a configuration to the trash; purges one that is there',
      body: ChangeNote,
      handle: async ({ params, body, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        const mayPurge = (): void => {
          if (call.branch.is_default !== 1)
            throw badRequest(
              'storage.components.cannotDeleteConfiguration',
              'Deleting configuration from trash is not allowed in development branches.',
            );
          if (!call.caller.canPurgeTrash) throw accessDenied();
        };
        await deleteConfiguration(
          call.transact,
          key,
          { mayPurge },
          changeOf(context, call.caller, body.changeDescription),
        );
        return undefined;
      },
    }),
    route('POST', '/components/:component/configs/:configuration/restore', {
      summary: 'Takes a configuration out of the trash',
      body: ChangeNote,
      response: Configuration,
      handle: async ({ params, body, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        const change = changeOf(context, call.caller, body.changeDescription);
        return await wholeConfiguration(context, await restoreConfiguration(call.transact, key, change));
      },
    }),
    route('POST', '/components/:component/configs/:configuration/reset-to-default', {
      summary: 'Gives a configuration of a branch what the default branch has',
      body: ChangeNote,
      handle: async ({ params, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        const main = await findBranch(meta, 'default');
        if (main === undefined || main.id === key.branch_id)
          throw badRequest(
            'storage.components.resetToDefault',
            'Reset to default branch is not implemented for default branch',
          );
        await resetToDefault(call.transact, key, main.id, changeOf(context, call.caller, undefined));
        return undefined;
      },
    }),
    route('GET', '/components/:component/configs/:configuration/workspaces', {
      summary: 'The workspaces of a configuration: always none',
      response: Type.Array(Type.Unknown()),
      handle: async ({ params, ...call }) => {
        await requireConfiguration(meta, keyFrom(context, call, params.component, params.configuration));
        return [];
      },
    }),
    route('POST', '/components/:component/configs/:configuration/workspaces', {
      summary: 'Makes a workspace: not supported',
      handle: () => {
        throw notImplemented('A workspace');
      },
    }),
  ];
}

async function wholeConfiguration({ meta }: Context, loaded: LoadedConfiguration): Promise<Reply> {
  const configuration = await contentOf(meta, loaded.version);
  const rows = await listRows(meta, loaded);
  return configurationReply({ ...loaded, configuration, rows }, { withState: true });
}

async function wholeReply({ meta }: Context, whole: WholeConfiguration): Promise<Reply> {
  const rows = whole.hasRows ? await listRows(meta, whole) : [];
  return configurationReply({ ...whole, rows }, { withState: true });
}
