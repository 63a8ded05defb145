import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { keyFileText } from '../../../lib/encryption/keys.ts';
import { ConfigurationLogin } from '../../../storage/protocol/login.ts';
import type { Desk } from '../../domain/builder/desk.ts';
import { describeLogins, documentOf, mayHaveLogins } from '../../domain/configurations/logins.ts';
import { requireWhole } from '../../domain/configurations/read-configuration.ts';
import type { Context } from '../../domain/context.ts';
import type { RowLogin } from '../../../runner/login/authorize.ts';
import { keyFrom } from '../parsing/configuration.ts';
import { routesOf, type Route } from '../route.ts';

const route = routesOf('Configurations');

/** Versions of configurations whose logins are remembered. */
const MOST_KNOWN = 500;

/** Makes the route of the logins of a configuration. */
export function loginRoutes({ meta, env, keys, project, ...context }: Context, desk: Desk): Route[] {
  /** By a digest of the configuration: which logins it has follows from its text alone. */
  const known = new Map<string, readonly RowLogin[]>();

  async function namedIn(document: string, scope: { component: string; configuration: string }) {
    const digest = createHash('sha256').update(document).digest('base64');
    const found = known.get(digest);
    if (found !== undefined) return found;
    const asked = {
      kind: 'logins',
      document,
      keys: keyFileText(keys),
      scope: { project: String(project.id), ...scope },
    } as const;
    const listed = await desk.ask(asked, (said) => ('listed' in said ? said.listed : undefined));
    const [oldest] = known.keys();
    if (known.size >= MOST_KNOWN && oldest !== undefined) known.delete(oldest);
    known.set(digest, listed);
    return listed;
  }

  return [
    route('GET', '/components/:component/configs/:configuration/logins', {
      summary: 'The logins of a configuration that are kept between runs, and whether they still hold',
      response: Type.Array(ConfigurationLogin),
      handle: async ({ params: { component, configuration }, ...call }) => {
        const key = keyFrom({ meta, env, keys, project, ...context }, call, component, configuration);
        const whole = await requireWhole(meta, key);
        const document = await documentOf(meta, whole);
        if (!mayHaveLogins(document)) return [];
        const named = await namedIn(document, { component, configuration });
        return describeLogins(named, whole.head.state, Math.floor(env.now() / 1000));
      },
    }),
  ];
}
