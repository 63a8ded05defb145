import { Type } from 'typebox';
import { readConfig } from '../../../engine/config/index.ts';
import { scopeFrom } from '../../../lib/encryption/index.ts';
import { encodeExact, entriesOf, isList, isObject, objectOf, type Json } from '../../../lib/json/index.ts';
import { HIDDEN } from '../../../lib/secrets.ts';
import { configurationText } from '../given-configuration.ts';
import { variableIn } from '../grants.ts';
import { resultOf } from '../told-failure.ts';
import { defineTool } from '../tool.ts';

/** Argument of tools that take a configuration. */
export const configurationInput = Type.Optional(
  Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.String()], {
    description:
      'What config.json would hold, as an object or as JSON text; by default the config.json of the data folder. Keys that begin with # are secrets: their values are "$env:NAME", never the secret itself.',
  }),
);

export const readConfiguration = defineTool({
  name: 'read_configuration',
  title: 'Read the configuration of the data folder',
  description: 'Returns config.json of the data folder. Secrets that stand in it in plain are hidden.',
  input: Type.Object({}),
  works: 'here',
  async run(_given, { session }) {
    const { value } = await readConfig(session.dataFolder);
    return encodeExact(hidden(value, false));
  },
});

export const validateConfiguration = defineTool({
  name: 'validate_configuration',
  title: 'Validate a configuration',
  description:
    'Returns every problem of a configuration with its path, and what to do. Nothing is asked of an API.',
  input: Type.Object({ configuration: configurationInput }),
  works: 'apart',
  async run({ configuration }, call) {
    const { session } = call;
    const text = await configurationText(configuration, session.dataFolder, session.grants);
    const said = await session.ask(
      {
        kind: 'inspect',
        text,
        keys: session.keys(),
        scope: scopeFrom(process.env),
        environment: session.grants.variables,
      },
      call,
    );
    const { problems } = resultOf(said, 'problems');
    return { valid: problems.every(({ severity }) => severity !== 'error'), problems };
  },
});

function hidden(value: Json, isSecret: boolean): Json {
  if (isList(value)) return value.map((item) => hidden(item, isSecret));
  if (isObject(value))
    return objectOf(
      entriesOf(value).map(([key, item]) => [key, hidden(item, isSecret || key.startsWith('#'))]),
    );
  if (!isSecret || value === '' || value === null) return value;
  const isNamed = typeof value === 'string' && (variableIn(value) !== undefined || value.startsWith('KBC::'));
  return isNamed ? value : HIDDEN;
}
