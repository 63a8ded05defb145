import type { Change, LoadedConfiguration, LoadedRow } from '../configurations/model.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { recordEvent, type Doer } from './system-event.ts';

/** Change of a configuration, in the names of its events. */
type Done =
  | 'Changed'
  | 'Copied'
  | 'Created'
  | 'Deleted'
  | 'Purged'
  | 'ResetToDefault'
  | 'Restored'
  | 'RolledBack';

const DID: Readonly<Record<Done, string>> = {
  Changed: 'Changed',
  Copied: 'Copied',
  Created: 'Created',
  Deleted: 'Deleted',
  Purged: 'Purged',
  ResetToDefault: 'Reset to default',
  Restored: 'Restored',
  RolledBack: 'Rolled back',
};

/** Records an event about a configuration, and returns it. Must run in the transaction of the change. */
export async function toldOf(
  tx: Meta,
  done: Done,
  loaded: LoadedConfiguration,
  change: Change,
): Promise<LoadedConfiguration> {
  const { head, version } = loaded;
  const { component_id: component, configuration_id: configurationId } = head;
  await recordEvent(tx, change.env, doerOfChange(head.branch_id, change), {
    name: `componentConfiguration${done}`,
    message: `${DID[done]} component configuration "${version.name}" (${component})`,
    object: { type: 'componentConfiguration', id: configurationId, name: version.name },
    configurationId,
    params: { component, configurationId, name: version.name, version: head.version },
  });
  return loaded;
}

/** Records an event about a row, and returns it. Must run in the transaction of the change. */
export async function toldOfRow(tx: Meta, done: Done, loaded: LoadedRow, change: Change): Promise<LoadedRow> {
  const { head, version } = loaded;
  const { component_id: component, configuration_id: configurationId, row_id: rowId } = head;
  await recordEvent(tx, change.env, doerOfChange(head.branch_id, change), {
    name: `componentConfigurationRow${done}`,
    message: `${DID[done]} row "${rowId}" of component configuration "${configurationId}" (${component})`,
    object: { type: 'componentConfigurationRow', id: rowId, name: version.name },
    configurationId,
    params: { component, configurationId, rowId, name: version.name, version: head.version },
  });
  return loaded;
}

const doerOfChange = (branchId: number, { author, runId = null }: Change): Doer => ({
  branchId,
  author,
  runId,
});
