import { Type, type Static } from 'typebox';
import { Time } from './common.ts';
import { Run } from './run.ts';

/** Query of `GET configurations/brief`. */
export const ConfigurationBriefsQuery = Type.Object({
  isDeleted: Type.Optional(Type.Boolean({ description: 'Those in the trash. Default: false.' })),
  component: Type.Optional(Type.String({ description: 'Only those of this component.' })),
  search: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'Only those with all of its words in name, id or component.',
    }),
  ),
  sort: Type.Optional(
    Type.Enum(['name', 'changed', 'component'], {
      description: 'Order: by name (the default), the last changed first, or by component.',
    }),
  ),
  isReversed: Type.Optional(Type.Boolean({ description: 'The other way round.' })),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 500, default: 100 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
});
export type ConfigurationBriefsQuery = Static<typeof ConfigurationBriefsQuery>;

/** Configuration, as far as lists show it. */
export const ConfigurationBrief = Type.Object({
  component: Type.String(),
  componentName: Type.String(),
  configuration: Type.String(),
  name: Type.String(),
  isDisabled: Type.Boolean(),
  version: Type.Integer(),
  changedTime: Type.Union([Time, Type.Null()], {
    description: 'When its version was made; of one in the trash, when it was deleted.',
  }),
  lastRun: Type.Union(
    [
      Type.Object({
        ...Type.Pick(Run, ['id', 'status', 'verdict', 'cancelTime', 'endTime']).properties,
        isAccepted: Type.Boolean({ description: 'True when somebody has accepted its doubt.' }),
      }),
      Type.Null(),
    ],
    { description: 'The newest run, also one that waits or is at work.' },
  ),
});
export type ConfigurationBrief = Static<typeof ConfigurationBrief>;

/** A page of a list of configurations. */
export const ConfigurationBriefs = Type.Object(
  {
    all: Type.Integer({ description: 'How many there are, whatever is searched.' }),
    total: Type.Integer({ description: 'How many fit the query.' }),
    configurations: Type.Array(ConfigurationBrief),
  },
  { title: 'Configuration briefs' },
);
export type ConfigurationBriefs = Static<typeof ConfigurationBriefs>;

/** Answer of `GET configurations/names`: all configurations that are not in the trash, by their names. */
export const ConfigurationNames = Type.Array(
  Type.Object({
    component: Type.String(),
    componentName: Type.String(),
    configurations: Type.Array(Type.Object({ configuration: Type.String(), name: Type.String() }), {
      minItems: 1,
    }),
  }),
  { title: 'Configuration names' },
);
export type ConfigurationNames = Static<typeof ConfigurationNames>;
