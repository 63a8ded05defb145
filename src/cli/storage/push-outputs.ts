import { existsSync } from 'node:fs';
import path from 'node:path';
import { readConfig, type ConfigDocument } from '../../engine/config/index.ts';
import { systemEnv } from '../../lib/env.ts';
import { RunError, StorageError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { JournalDocument } from '../../runner/mapping/journal.ts';
import type { Origin } from '../../runner/mapping/mapping-types.ts';
import { clientStorage } from '../../runner/client-storage.ts';
import { discardPushes, findOutputs, planFolder, pushFolder } from '../../runner/push-folder.ts';
import { fileStates, type States } from '../../runner/row-state.ts';
import { fetchConfiguration } from '../../runner/stored-configuration.ts';
import { KNOWN_COMPONENT } from '../../service/open/open-target.ts';
import { storedStates } from '../../runner/stored-states.ts';
import type { StorageClient } from '../../storage/client/index.ts';
import type { OpenStorage } from '../../service/open/index.ts';
import type { Args, Io } from '../command.ts';
import { describePlans, describePushed } from '../push-result.ts';
import { createProgress } from '../progress.ts';
import { openLog } from '../shared.ts';

/** Runs `gex storage push`: pushes the outputs of a data folder, or the rest of them. */
export async function push(args: Args, io: Io): Promise<number> {
  const dataFolder = args.word('dir');
  if (!existsSync(dataFolder))
    throw new RunError('command.invalid', `There is no folder ${dataFolder}.`, {
      hint: 'Give the data folder of a run: it has out/, or rows/<id>/out/.',
    });
  const log = await openLog(args, io);
  if (args.isSet('discard')) return discard(dataFolder, args, io);
  const journals = findOutputs(dataFolder, args.list('row')).flatMap(({ journal }) => journal ?? []);
  const begun =
    journals.find(({ status }) => status === 'pending') ?? (args.isSet('again') ? journals[0] : undefined);
  const task = { dataFolder, begun, args, io, log };
  return args.isSet('dry-run') ? await showPlan(task) : await pushRest(task);
}

/**
 * Discards pushes: the output stays in `out/` until the next run moves it aside, and loaded parts stay in the storage.
 */
function discard(dataFolder: string, args: Args, io: Io): number {
  const given = discardPushes(dataFolder, args.list('row'), systemEnv.now());
  io.print(
    given.length === 0
      ? 'No push was left to give up.'
      : given
          .map((out) => `Gave up the push of ${out}; the next run begins with the state before it.`)
          .join('\n'),
  );
  return 0;
}

interface Task {
  readonly dataFolder: string;
  /** Journal of a push that was interrupted, or is to be repeated: it has the target. */
  readonly begun: JournalDocument | undefined;
  readonly args: Args;
  readonly io: Io;
  readonly log: Log;
}

async function pushRest(task: Task): Promise<number> {
  const { dataFolder, args, io, log } = task;
  const stored = storedOrigin(task);
  const progress = createProgress(io, log, systemEnv, io.isTerminal && args.text('log-format') === 'text');
  let opened: OpenStorage | undefined;
  const connect = async (): Promise<OpenStorage> => (opened ??= await open(task));
  try {
    const source =
      stored === undefined
        ? await localSource(dataFolder)
        : await storedSource(stored, (await connect()).client, log);
    const rows = await pushFolder({
      dataFolder,
      ...source,
      rows: args.list('row'),
      again: args.isSet('again'),
      storage: clientStorage({
        connect,
        origin: stored ?? localOrigin(),
        env: systemEnv,
        onProgress: progress.transfer,
      }),
      log,
      signal: io.signal,
      command: ['gex', ...process.argv.slice(2)].join(' '),
    });
    progress.stop();
    io.print(describePushed(rows, args.isSet('json')));
    return 0;
  } finally {
    progress.stop();
    await opened?.close();
  }
}

async function showPlan(task: Task): Promise<number> {
  const { dataFolder, args, io, log } = task;
  const stored = storedOrigin(task);
  const opened = stored === undefined ? undefined : await open(task);
  try {
    const { document } =
      stored === undefined || opened === undefined
        ? await localSource(dataFolder)
        : await storedSource(stored, opened.client, log);
    const plans = await planFolder({
      dataFolder,
      document,
      rows: args.list('row'),
      log,
      signal: io.signal,
      originOf: ({ row, folder, configuration }) => ({
        ...(stored ?? localOrigin()),
        configuration: stored?.configuration ?? configuration ?? folder.name,
        row: row.id,
      }),
    });
    io.print(describePlans(plans, args.isSet('json')));
    return 0;
  } finally {
    await opened?.close();
  }
}

async function open({ dataFolder, begun, args, io, log }: Task): Promise<OpenStorage> {
  const { openStorage } = await import('../../service/open/index.ts');
  return await openStorage({
    storage: args.text('storage') ?? begun?.target.address ?? path.join(dataFolder, 'storage'),
    environment: process.env,
    branch: begun?.origin.branch,
    log,
    signal: io.signal,
    secrets: io.secrets,
    purpose: 'push the outputs',
  });
}

/** Sources of a push: the configuration with the mappings, and the store of states. */
interface Source {
  readonly document: ConfigDocument | undefined;
  readonly states: States;
}

async function localSource(dataFolder: string): Promise<Source> {
  const hasConfig = existsSync(path.join(dataFolder, 'config.json'));
  return { document: hasConfig ? await readConfig(dataFolder) : undefined, states: fileStates };
}

async function storedSource(place: StoredOrigin, client: StorageClient, log: Log): Promise<Source> {
  const states = storedStates(client, place);
  try {
    return { ...(await fetchConfiguration(client, place)), states };
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== 'storage.notFound') throw error;
    const { component, configuration } = place;
    log.warn(
      `The configuration ${configuration} of ${component} is gone: the manifests alone say where the outputs go`,
    );
    return { document: undefined, states };
  }
}

type StoredOrigin = Omit<Origin, 'row'>;

/** Returns the origin of a push whose run took its configuration from the storage. */
function storedOrigin({ begun }: Task): StoredOrigin | undefined {
  if (begun?.origin.isStored !== true) return undefined;
  const { component, configuration, branch } = begun.origin;
  return { component, configuration, branch, isStored: true };
}

function localOrigin(): { component: string; isStored: boolean } {
  return { component: process.env['KBC_COMPONENTID'] ?? KNOWN_COMPONENT, isStored: false };
}
