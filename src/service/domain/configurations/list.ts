import type { Meta } from '../../stores/metadata/database.ts';
import type { ConfigurationKey } from '../../stores/metadata/tables.ts';
import type { LoadedConfiguration } from './model.ts';
import { sameConfiguration } from '../../stores/metadata/configuration-key.ts';

/** Selection of configurations: live or deleted ones of a branch, of one component or of all. */
export interface Listing {
  readonly branch_id: number;
  readonly component_id?: string;
  readonly isDeleted: boolean;
}

/** Lists configurations by component and id. */
export async function listConfigurations(meta: Meta, of: Listing): Promise<LoadedConfiguration[]> {
  const heads = await headsOf(meta, of)
    .selectAll('c')
    .orderBy('c.component_id')
    .orderBy('c.configuration_id')
    .execute();
  const versions = await versionsOf(meta, of).selectAll('v').execute();
  const current = new Map(versions.map((version) => [textKey(version), version]));
  return heads.flatMap((head) => {
    const version = current.get(textKey(head));
    return version === undefined ? [] : [{ head, version }];
  });
}

const textKey = (key: ConfigurationKey): string => JSON.stringify([key.component_id, key.configuration_id]);

function headsOf(meta: Meta, of: Listing) {
  return meta
    .selectFrom('configurations as c')
    .where('c.branch_id', '=', of.branch_id)
    .where('c.is_deleted', '=', of.isDeleted ? 1 : 0)
    .$if(of.component_id !== undefined, (query) => query.where('c.component_id', '=', of.component_id ?? ''));
}

function versionsOf(meta: Meta, of: Listing) {
  return headsOf(meta, of).innerJoin('configuration_versions as v', (join) =>
    sameConfiguration(join, 'v', 'c', { version: 'version' }),
  );
}
