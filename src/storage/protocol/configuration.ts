import { Type, type Static } from 'typebox';
import { Content, Creator, Names, Time } from './common.ts';

const ChangeDescription = Type.Optional(Type.String({ description: 'Text of this version only.' }));

const IfVersion = Type.Optional(
  Type.Integer({
    minimum: 1,
    description: 'Only while this is the current version; otherwise the answer is 412, with the one that is.',
  }),
);

/** Body of `POST configs`. */
export const ConfigurationCreate = Type.Object({
  name: Type.String({ minLength: 1 }),
  configurationId: Type.Optional(Type.String({ description: 'Made up when left out or empty.' })),
  description: Type.Optional(Type.String()),
  configuration: Type.Optional(Content),
  state: Type.Optional(Content),
  changeDescription: ChangeDescription,
  isDisabled: Type.Optional(Type.Boolean()),
});
export type ConfigurationCreate = Static<typeof ConfigurationCreate>;

/** Body of `PUT configs/{id}`: what is left out stays. */
export const ConfigurationUpdate = Type.Object({
  name: Type.Optional(Type.String({ minLength: 1 })),
  description: Type.Optional(Type.String()),
  configuration: Type.Optional(Content),
  state: Type.Optional(Content),
  changeDescription: ChangeDescription,
  isDisabled: Type.Optional(Type.Boolean()),
  rowsSortOrder: Type.Optional(Type.Array(Type.String(), { description: 'Every row id, once.' })),
  ifVersion: IfVersion,
});
export type ConfigurationUpdate = Static<typeof ConfigurationUpdate>;

export const StateUpdate = Type.Object({ state: Content });

export const RowCreate = Type.Object({
  rowId: Type.Optional(Type.String({ description: 'Made up when left out or empty.' })),
  name: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  configuration: Type.Optional(Content),
  state: Type.Optional(Content),
  isDisabled: Type.Optional(Type.Boolean()),
  changeDescription: ChangeDescription,
});
export type RowCreate = Static<typeof RowCreate>;

/** Body of `PUT rows/{id}`: what is left out stays. */
export const RowUpdate = Type.Object({ ...Type.Omit(RowCreate, ['rowId']).properties, ifVersion: IfVersion });
export type RowUpdate = Static<typeof RowUpdate>;

/** Body of rollback, restore and the deletion of a row. */
export const ChangeNote = Type.Object({ changeDescription: ChangeDescription });
export type ChangeNote = Static<typeof ChangeNote>;

/** Body of `versions/{v}/create`. */
export const ConfigurationCopy = Type.Object({
  name: Type.String({ minLength: 1 }),
  description: Type.Optional(Type.String()),
  changeDescription: ChangeDescription,
});
export type ConfigurationCopy = Static<typeof ConfigurationCopy>;

/** Body of `rows/{r}/versions/{v}/create`. */
export const RowCopy = Type.Object({
  targetConfigId: Type.Optional(Type.String({ description: 'The same configuration when left out.' })),
  changeDescription: ChangeDescription,
});
export type RowCopy = Static<typeof RowCopy>;

export const VersionsQuery = Type.Object({
  include: Type.Optional(Names),
  limit: Type.Optional(Type.Integer({ minimum: 1, default: 100 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
});
export type VersionsQuery = Static<typeof VersionsQuery>;

const Change = {
  created: Time,
  creatorToken: Creator,
  changeDescription: Type.String(),
  versionIdentifier: Type.String({ description: 'A ULID of its own for every version.' }),
};

export const ConfigurationRow = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    configuration: Content,
    isDisabled: Type.Boolean(),
    version: Type.Integer(),
    ...Change,
    state: Content,
  },
  { title: 'Configuration row' },
);
export type ConfigurationRow = Static<typeof ConfigurationRow>;

export const Configuration = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    created: Time,
    creatorToken: Creator,
    version: Type.Integer(),
    changeDescription: Type.String(),
    isDisabled: Type.Boolean(),
    isDeleted: Type.Boolean(),
    configuration: Content,
    rowsSortOrder: Type.Array(Type.String()),
    rows: Type.Array(ConfigurationRow),
    state: Content,
    currentVersion: Type.Object(Change),
  },
  { title: 'Configuration' },
);
export type Configuration = Static<typeof Configuration>;

export const ConfigurationVersion = Type.Object(
  {
    version: Type.Integer(),
    ...Change,
    isDeleted: Type.Boolean(),
    name: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    configuration: Type.Optional(Content),
  },
  { title: 'Configuration version' },
);
export type ConfigurationVersion = Static<typeof ConfigurationVersion>;

export const RowVersion = Type.Object(
  {
    version: Type.Integer(),
    name: Type.String(),
    description: Type.String(),
    isDisabled: Type.Boolean(),
    ...Change,
    configuration: Type.Optional(Content),
  },
  { title: 'Row version' },
);
export type RowVersion = Static<typeof RowVersion>;
