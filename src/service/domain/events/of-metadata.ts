import type { MetadataEntry } from '../../stores/metadata/metadata.ts';
import type { MetadataOwner } from '../../stores/metadata/metadata.ts';
import type { MetadataScope } from '../../stores/metadata/tables.ts';
import type { EventObject, SystemEvent } from './system-event.ts';

const SCOPES: Readonly<Record<MetadataScope, EventObject['type']>> = {
  branch: 'devBranch',
  bucket: 'bucket',
  column: 'column',
  configuration: 'componentConfiguration',
  table: 'table',
};

/** An event repeats that much of metadata. */
const MAX_PAIRS = 100;
const MAX_VALUE = 1000;

/** Metadata was set. */
export function metadataSet(
  owner: MetadataOwner,
  given: {
    readonly provider: string;
    readonly pairs: readonly MetadataEntry[];
    readonly columns?: readonly string[];
  },
): SystemEvent {
  const { provider, pairs, columns } = given;
  const metadata = pairs
    .slice(0, MAX_PAIRS)
    .map(({ key, value }) => ({ key, value: value.slice(0, MAX_VALUE).toWellFormed() }));
  const object = objectOf(owner);
  return {
    name: `${object.type}MetadataSet`,
    message: `Set metadata of ${wordsOf(object)}`,
    object,
    params: {
      provider,
      metadata,
      ...(columns === undefined ? {} : { columns: columns.slice(0, MAX_PAIRS) }),
    },
  };
}

export function metadataDeleted(owner: MetadataOwner, id: string): SystemEvent {
  const object = objectOf(owner);
  return {
    name: `${object.type}MetadataDeleted`,
    message: `Deleted metadata of ${wordsOf(object)}`,
    object,
    params: { metadataId: id },
  };
}

function objectOf({ scope, owner, branch_id }: MetadataOwner): EventObject {
  const type = SCOPES[scope];
  // The owner of a configuration's metadata is `component/configuration`.
  const id =
    scope === 'branch'
      ? String(branch_id)
      : scope === 'configuration'
        ? owner.slice(owner.indexOf('/') + 1)
        : owner;
  return { type, id, name: id };
}

const WORDS: Readonly<Record<string, string>> = {
  componentConfiguration: 'configuration',
  devBranch: 'branch',
};

const wordsOf = ({ type, name }: EventObject): string => `the ${WORDS[type] ?? type} "${name}"`;
