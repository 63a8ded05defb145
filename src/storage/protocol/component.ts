import { Type, type Static } from 'typebox';
import { Names } from './common.ts';

/** A component of the catalogue; what isn't listed is given through. */
export const Component = Type.Object(
  {
    id: Type.String(),
    type: Type.String({ examples: ['extractor', 'writer', 'transformation'] }),
    name: Type.String(),
    description: Type.String(),
    flags: Type.Array(Type.String()),
    features: Type.Array(Type.String()),
    configurationSchema: Type.Unknown(),
  },
  { title: 'Component' },
);
export type Component = Static<typeof Component>;

export const IndexQuery = Type.Object({
  exclude: Type.Optional(Names),
});

export const ComponentsQuery = Type.Object({
  include: Type.Optional(Names),
  componentType: Type.Optional(Type.String()),
  isDeleted: Type.Optional(Type.Boolean()),
});

export const Index = Type.Object(
  {
    host: Type.String(),
    api: Type.Literal('storage'),
    version: Type.String(),
    revision: Type.String(),
    stack: Type.String(),
    documentation: Type.String(),
    components: Type.Optional(Type.Array(Component)),
    services: Type.Array(Type.Object({ id: Type.String(), url: Type.String() })),
    features: Type.Array(Type.String()),
    urlTemplates: Type.Record(Type.String(), Type.String()),
  },
  { title: 'Index' },
);
