import { Type } from 'typebox';
import { namesOf } from '../../../storage/protocol/common.ts';
import {
  ChangeNote,
  ConfigurationCopy,
  ConfigurationVersion,
  VersionsQuery,
} from '../../../storage/protocol/configuration.ts';
import type { Reply } from '../../domain/reply.ts';
import { changeOf, keyFrom, versionOf } from '../parsing/configuration.ts';
import type { Context } from '../../domain/context.ts';
import { invalidField } from '../../domain/api-error.ts';
import { newIdentifier } from '../../stores/metadata/identifier.ts';
import { copyConfiguration } from '../../domain/configurations/copy.ts';
import { orderAt } from '../../domain/configurations/history.ts';
import {
  contentOf,
  listRowsOf,
  listVersions,
  requireConfiguration,
  requireVersion,
} from '../../domain/configurations/read-configuration.ts';
import { rollbackConfiguration } from '../../domain/configurations/rollback.ts';
import { routesOf, type Route } from '../route.ts';
import { versionDetailReply, versionReply } from '../../domain/presenters/configuration.ts';

const route = routesOf('Configuration versions');
const validationCode = 'storage.components.validation';

/** Makes the routes of the versions of a configuration: list, detail, rollback, copy. */
export function configurationVersionRoutes(context: Context): Route[] {
  const { meta, env } = context;
  const base = '/components/:component/configs/:configuration/versions' as const;
  return [
    route('GET', base, {
      summary: 'The versions of a configuration, the newest first',
      query: VersionsQuery,
      response: Type.Array(ConfigurationVersion),
      handle: async ({ params, query, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        const include = includeOf(query.include);
        await requireConfiguration(meta, key);
        const shown: Reply[] = [];
        for (const version of await listVersions(meta, key, {
          limit: query.limit ?? 100,
          offset: query.offset ?? 0,
        })) {
          const content = include.includes('configuration') ? await contentOf(meta, version) : undefined;
          shown.push(versionReply(version, include, content));
        }
        return shown;
      },
    }),
    route('GET', `${base}/:version`, {
      summary: 'A version with its content and rows',
      response: ConfigurationVersion,
      handle: async ({ params, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        await requireConfiguration(meta, key);
        const version = await requireVersion(meta, key, versionOf(params.version));
        const [content, rows] = [await contentOf(meta, version), await listRowsOf(meta, version)];
        return versionDetailReply(version, content, rows, await orderAt(meta, version));
      },
    }),
    route('POST', `${base}/:version/rollback`, {
      summary: 'Makes an older version the newest one',
      status: 201,
      body: ChangeNote,
      response: Type.Object({ version: Type.String() }),
      handle: async ({ params, body, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        const change = changeOf(context, call.caller, body.changeDescription);
        const { head } = await rollbackConfiguration(call.transact, key, versionOf(params.version), change);
        return { version: String(head.version) };
      },
    }),
    route('POST', `${base}/:version/create`, {
      summary: 'Makes a new configuration of a version',
      status: 201,
      body: ConfigurationCopy,
      response: Type.Object({ id: Type.String() }),
      validationCode,
      handle: async ({ params, body, ...call }) => {
        const key = keyFrom(context, call, params.component, params.configuration);
        const change = changeOf(context, call.caller, body.changeDescription);
        const to = { id: newIdentifier(env), name: body.name, description: body.description };
        const from = { ...key, version: versionOf(params.version) };
        const { head } = await copyConfiguration(call.transact, from, to, change);
        return { id: head.configuration_id };
      },
    }),
  ];
}

const PARTS = ['name', 'description', 'configuration'];

/**
 * Reads the parts asked for; `state` is ignored, since versions have none, and an empty text asks for nothing
 * special.
 */
function includeOf(include: string | string[] | undefined): readonly string[] {
  const names = namesOf(include);
  const unknown = names.filter((name) => name !== 'state' && !PARTS.includes(name));
  if (unknown.length > 0) {
    const list = unknown.map((part) => `"${part}"`).join(', ');
    throw invalidField(
      'storage.validation',
      'include',
      `Invalid include parameters: ${list}. Only following are allowed: ${PARTS.join(', ')}.`,
    );
  }
  return names.length === 0 ? ['name', 'description'] : names;
}
