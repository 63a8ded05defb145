import { Type } from 'typebox';
import type { Snapshots } from '../../domain/transfer/backup/snapshot.ts';
import { route, type Route } from '../route.ts';
import { requireTokenManagement } from '../../domain/tokens/permissions.ts';

/**
 * Makes the routes for commands on the machine of the folder, which read the results from the disk: nothing of them
 * is sent.
 */
export function folderRoutes(snapshots: Snapshots): Route[] {
  const tag = 'Folder';
  const snapshot = Type.Object({ name: Type.String({ description: 'A folder below `tables/compact`' }) });
  return [
    route({
      method: 'POST',
      path: '/folder/snapshots',
      summary:
        'Copy metadata and tables, as they are at one moment, beside those of the folder: for a backup',
      tag,
      isOutside: true,
      scope: 'plain',
      status: 201,
      response: snapshot,
      handle: async ({ caller }) => {
        requireTokenManagement(caller);
        return { name: await snapshots.take() };
      },
    }),
    route({
      method: 'DELETE',
      path: '/folder/snapshots/:name',
      summary: 'Remove such a copy',
      tag,
      isOutside: true,
      scope: 'plain',
      status: 204,
      handle: async ({ caller, params }) => {
        requireTokenManagement(caller);
        await snapshots.drop(params.name);
        return undefined;
      },
    }),
  ];
}
