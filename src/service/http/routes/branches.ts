import { Type } from 'typebox';
import { Branch, BranchCreate, BranchUpdate } from '../../../storage/protocol/branch.ts';
import { Job } from '../../../storage/protocol/job.ts';
import type { Reply } from '../../domain/reply.ts';
import { enqueueJob } from '../enqueue-job.ts';
import { authorOf } from '../../domain/tokens/caller.ts';
import type { Context } from '../../domain/context.ts';
import type { DataContext } from '../../domain/data-context.ts';
import { doerOf, recordEvent, type SystemEvent } from '../../domain/events/system-event.ts';
import { encodeReply } from '../../domain/encode-reply.ts';
import { badRequest, notFound } from '../../domain/api-error.ts';
import {
  findBranch,
  findBranchByName,
  insertBranch,
  listBranches,
  updateBranch,
} from '../../stores/metadata/branches.ts';
import { copyToBranch } from '../../domain/configurations/copy.ts';
import { nextId } from '../../stores/metadata/counter.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { recordFinishedJob } from '../../stores/metadata/jobs.ts';
import type { BranchRow } from '../../stores/metadata/tables.ts';
import { routesOf, type Route } from '../route.ts';
import { jobReply } from '../../domain/presenters/job.ts';
import { apiTime } from '../../domain/presenters/time.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { BRANCHES, branchOf } from '../../stores/metadata/transaction.ts';
import { requireTokenManagement } from '../../domain/tokens/permissions.ts';

const route = routesOf('Branches');

/** Makes the routes of development branches. The job that makes a branch is finished before the answer is sent. */
export function branchRoutes(context: Context): Route[] {
  const { meta, env } = context;
  return [
    route('GET', '/dev-branches', {
      summary: 'All branches',
      response: Type.Array(Branch),
      handle: async () => (await listBranches(meta)).map(branchReply),
    }),
    route('GET', '/dev-branches/:id', {
      summary: 'A branch',
      response: Branch,
      handle: async ({ params }) => branchReply(await requireBranch(meta, params.id)),
    }),
    route('POST', '/dev-branches', {
      summary: 'Makes a branch with a copy of all configurations',
      judge: ({ caller }) => requireTokenManagement(caller),
      status: 202,
      body: BranchCreate,
      response: Job,
      handle: async ({ body, caller, origin, runId, transact }) => {
        requireTokenManagement(caller);
        const author = authorOf(caller);
        const main = await requireBranch(meta, 'default');
        const job = await transact([BRANCHES, branchOf(main.id)], async (tx) => {
          await requireFreeName(tx, body.name);
          const branch: BranchRow = {
            id: await nextId(tx),
            name: body.name,
            description: body.description ?? '',
            is_default: 0,
            created: isoTime(env.now()),
            ...author,
          };
          await insertBranch(tx, branch);
          await copyToBranch(tx, main.id, branch.id, { author, env, text: undefined });
          await recordEvent(
            tx,
            env,
            doerOf(main.id, caller),
            branchEvent(branch, 'devBranchCreated', 'Created'),
          );
          const params = { queue: 'main', values: { name: body.name } };
          const results = encodeReply(branchReply(branch));
          return await recordFinishedJob(tx, env, {
            branchId: main.id,
            operation: 'devBranchCreate',
            params,
            results,
            runId,
            author,
          });
        });
        return jobReply(job, origin);
      },
    }),
    route('PUT', '/dev-branches/:id', {
      summary: 'Changes the name or the description of a branch',
      judge: ({ caller }) => requireTokenManagement(caller),
      body: BranchUpdate,
      response: Branch,
      handle: async ({ params, body, ...call }) => {
        const { caller } = call;
        requireTokenManagement(caller);
        return await call.transact([BRANCHES], async (tx) => {
          const branch = await requireBranch(tx, params.id);
          if (body.name !== undefined && body.name !== branch.name) {
            if (branch.is_default === 1)
              throw badRequest('storage.devBranch.updateDefault', 'You can not update default branch name.');
            await requireFreeName(tx, body.name);
          }
          await updateBranch(tx, branch.id, body);
          const changed = await requireBranch(tx, params.id);
          const doer = doerOf(call.branch.id, caller);
          // The event has the name from before the change.
          await recordEvent(tx, env, doer, branchEvent(branch, 'devBranchUpdated', 'Changed'));
          return branchReply(changed);
        });
      },
    }),
  ];
}

/** Makes the route that deletes a branch: a job, since its tables and files are deleted with it. */
export function branchDeletionRoutes(context: DataContext): Route[] {
  return [
    route('DELETE', '/dev-branches/:id', {
      summary: 'Deletes a branch with all that is in it',
      status: 202,
      response: Job,
      enqueues: ['devBranchDelete'],
      handle: async ({ params, ...asker }) => {
        requireTokenManagement(asker.caller);
        const branch = await requireBranch(context.meta, params.id);
        if (branch.is_default === 1)
          throw badRequest('storage.devBranch.deleteDefault', 'Cannot delete Main branch');
        return await enqueueJob(context, asker, {
          operation: 'devBranchDelete',
          params: { id: branch.id, name: branch.name },
          lockKey: `branch/${branch.id}`,
        });
      },
    }),
  ];
}

const branchEvent = ({ id, name }: BranchRow, event: string, did: string): SystemEvent => ({
  name: event,
  message: `${did} the development branch "${name}"`,
  object: { type: 'devBranch', id: String(id), name },
  params: { devBranchName: name },
});

function branchReply(branch: BranchRow): Record<string, Reply> {
  return {
    id: branch.id,
    name: branch.name,
    description: branch.description,
    created: apiTime(branch.created),
    isDefault: branch.is_default === 1,
    creatorToken:
      branch.creator_id === null ? [] : { id: branch.creator_id, name: branch.creator_description ?? '' },
  };
}

async function requireBranch(meta: Meta, id: string): Promise<BranchRow> {
  const branch = await findBranch(meta, id);
  if (branch === undefined) throw notFound(`Branch id:"${id}" was not found.`);
  return branch;
}

async function requireFreeName(meta: Meta, name: string): Promise<void> {
  if ((await findBranchByName(meta, name)) !== undefined)
    throw badRequest('devBranch.duplicateName', `There already is a branch with name "${name}"`);
}
