import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { planRows, resourceOf, type ConfigDocument, type RowRun } from '../engine/config/index.ts';
import { systemEnv, type Env } from '../lib/env.ts';
import { RunError } from '../lib/errors.ts';
import { digKeys, isObject, type AnyObject } from '../lib/json/index.ts';
import type { Log } from '../lib/log.ts';
import { discardJournal, openJournal, type JournalDocument } from './mapping/journal.ts';
import type { Origin, Pushed } from './mapping/mapping-types.ts';
import { planOutputs, type OutputPlan } from './mapping/output/plan/plan.ts';
import { lockFolder } from './lock.ts';
import { placed } from './place-error.ts';
import { rowFolder } from './row-folder.ts';
import { rowPlace, type RowPlace } from './row-place.ts';
import type { States } from './row-state.ts';
import { wasHeld } from './doubt.ts';
import { deliver } from './run-row.ts';
import type { Storage } from './storage.ts';

/** The output of one row, as it lies in the data folder. */
export interface FolderOutput {
  /** Absent for the output of a configuration without rows. */
  readonly id?: string;
  readonly out: string;
  /** Journal of its push; undefined when none was tried. */
  readonly journal: JournalDocument | undefined;
}

export interface RowPush extends FolderOutput {
  /** Undefined when it had been pushed before. */
  readonly pushed: Pushed | undefined;
}

export interface PushFolderOptions {
  readonly dataFolder: string;
  /** Configuration with the mappings; without it the manifests alone give the destinations. */
  readonly document: ConfigDocument | undefined;
  /** Only these rows; all that have an output by default. */
  readonly rows: readonly string[];
  /** Pushes also what was pushed before. */
  readonly again: boolean;
  readonly storage: Storage;
  readonly states: States;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** How this process is called, for others who find the folder locked. */
  readonly command: string;
  readonly env?: Env;
}

/** Finds the outputs of a data folder: that of the root, then those of the rows; or those of the named rows alone. */
export function findOutputs(dataFolder: string, named: readonly string[] = []): readonly FolderOutput[] {
  const folder = path.join(dataFolder, 'rows');
  const ids = existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
        .toSorted()
    : [];
  return [undefined, ...ids].flatMap((id) => {
    if (named.length > 0 && (id === undefined || !named.includes(id))) return [];
    const { out } = rowFolder(dataFolder, id);
    if (!existsSync(out)) return [];
    return [{ ...(id === undefined ? {} : { id }), out, journal: openJournal(out)?.document }];
  });
}

/**
 * Pushes the outputs that lie in a data folder, in the order of the rows. What was pushed before is left out, and a push
 * that was cut short goes on where it was; its state is stored at the end.
 *
 * @throws {ExtractorError} when there is nothing to push, or a push fails
 */
export async function pushFolder(options: PushFolderOptions): Promise<readonly RowPush[]> {
  const { dataFolder, document, again, storage, states, log, signal, env = systemEnv } = options;
  const lock = lockFolder(dataFolder, options.command, env.now());
  try {
    const rows = chosen(options);
    const isDone = ({ journal }: FolderOutput): boolean => journal?.status === 'done' && !again;
    if (rows.some(({ output }) => !isDone(output))) await storage.begin();
    const done: RowPush[] = [];
    for (const { at, output } of rows) {
      signal.throwIfAborted();
      if (isDone(output)) {
        log.info('This output was pushed before; --again pushes it once more', { out: output.out });
        done.push({ ...output, pushed: undefined });
        continue;
      }
      try {
        if (!(await storage.isPending(at))) {
          // what was held back by a doubt: its state follows now
          const movesState = output.journal === undefined && wasHeld(at.folder.out);
          await storage.seal(at, at.folder.out, movesState);
        }
        done.push({ ...output, pushed: await deliver(at, { dataFolder, log, storage, states }) });
      } catch (error) {
        throw document === undefined ? error : placed(error, document, at.row);
      }
    }
    return done;
  } finally {
    lock.release();
  }
}

/**
 * Forgets the pushes in a data folder that were not brought to their end.
 *
 * @returns the outputs
 * @throws {RunError} `run.locked` while a run or a push is at work there
 */
export function discardPushes(dataFolder: string, rows: readonly string[], now: number): readonly string[] {
  const lock = lockFolder(dataFolder, 'gex storage push --discard', now);
  try {
    return findOutputs(dataFolder, rows).flatMap(({ out }) => (discardJournal(out) ? [out] : []));
  } finally {
    lock.release();
  }
}

export interface RowPushPlan extends FolderOutput {
  readonly plan: OutputPlan;
}

/** Plans the pushes of a folder, without a storage. */
export async function planFolder(
  options: Pick<PushFolderOptions, 'dataFolder' | 'document' | 'log' | 'rows' | 'signal'> & {
    readonly originOf: (at: RowPlace) => Origin;
  },
): Promise<readonly RowPushPlan[]> {
  const plans: RowPushPlan[] = [];
  for (const { at, output } of chosen(options)) {
    const { out, journal } = output;
    const origin = journal?.status === 'pending' ? journal.origin : options.originOf(at);
    const plan = await planOutputs({ out, mapping: outputMapping(at.row), origin });
    plans.push({ ...output, plan });
  }
  return plans;
}

function chosen(
  options: Pick<PushFolderOptions, 'dataFolder' | 'document' | 'log' | 'rows' | 'signal'>,
): readonly { readonly at: RowPlace; readonly output: FolderOutput }[] {
  const { dataFolder, document, rows, log, signal } = options;
  const outputs = findOutputs(dataFolder, rows);
  const missing = rows.filter((row) => !outputs.some(({ id }) => id === row));
  if (outputs.length === 0 || missing.length > 0) {
    const of = missing.length === 0 ? '' : ` of ${missing.map((id) => `“${id}”`).join(', ')}`;
    throw new RunError('push.invalid', `There is no output${of} to push.`, {
      where: { file: dataFolder },
      hint: 'Give the data folder of a run: it has out/, or rows/<id>/out/.',
    });
  }
  const resource = document === undefined ? undefined : resourceOf(document);
  const known =
    resource === undefined
      ? []
      : planRows(
          resource,
          resource.rows.map(({ id }) => id),
        ).runs;
  const order = new Map(known.map((row, i) => [row.id, i]));
  const placeOf = (id: string | undefined): RowRun =>
    known.find((row) => row.id === id) ?? { ...FORGOTTEN, ...(id === undefined ? {} : { id }) };
  return outputs
    .toSorted((a, b) => (order.get(a.id) ?? Infinity) - (order.get(b.id) ?? Infinity))
    .map((output) => ({
      output,
      at: rowPlace(placeOf(output.id), { dataFolder, configuration: resource?.id, log, signal }),
    }));
}

/** A row that the configuration no longer has. */
const FORGOTTEN: RowRun = {
  configuration: {},
  state: undefined,
  disabled: false,
};

function outputMapping({ configuration }: RowRun): AnyObject {
  const mapping = digKeys(['storage', 'output'], configuration);
  return isObject(mapping) ? mapping : {};
}
