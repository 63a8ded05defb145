import { createHash } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import type { RowRun } from '../../engine/config/index.ts';
import { systemEnv } from '../../lib/env.ts';
import { reasonOf } from '../../lib/errors.ts';
import type { AnyObject } from '../../lib/json/index.ts';
import { isoTime } from '../../lib/iso-time.ts';
import { postMessage } from '../../service/domain/alerts/post.ts';
import type { RowResult } from '../../runner/row-result.ts';
import type { LineageReceiver } from '../../service/domain/runs/lineage-receiver.ts';
import type { Args, Io } from '../command.ts';
import { openLog } from '../shared.ts';
import { storedArg } from '../stored-arg.ts';
import { inputsOf, namingOf, outputsOf, type LineageName } from './datasets.ts';
import { lineageEvent, type LineageMoment } from './event.ts';

/** Longest time that a command waits for the receiver, when all is done. */
const TIMEOUT_MS = 5000;

/** Knowledge of a runner about the run that it has started. */
export interface GivenLineage {
  readonly runId: string | undefined;
  readonly receiver: LineageReceiver | undefined;
}

/** Tells a receiver of OpenLineage of a run. Nothing that becomes of it changes the run. */
export interface LineageTeller {
  /** Tells that the rows begin, and waits for no answer. */
  readonly begin: (rows: readonly RowRun[]) => void;
  /** Tells how the run ended; a receiver that does not take it is a warning. */
  readonly end: (outcome: { readonly error?: unknown; readonly rows: readonly RowResult[] }) => Promise<void>;
}

/** Opens the teller of a run, which sends nothing yet. */
export function openTeller(
  url: string,
  { runId, receiver }: GivenLineage,
  { args, io }: { readonly args: Args; readonly io: Io },
): LineageTeller {
  const key = receiver?.key ?? process.env['GEX_OPENLINEAGE_KEY'] ?? '';
  if (key !== '') io.secrets.add(key);
  let inputs: readonly LineageName[] = [];
  let configurations: ReadonlyMap<string | undefined, AnyObject> = new Map();
  let begun: Promise<void> | undefined;
  const host = os.hostname();
  const names = (): Names => namesOf(args, receiver, host);
  const bytes = systemEnv.randomBytes(16);
  const post = async (moment: Omit<LineageMoment, 'inputs'>, signal: AbortSignal): Promise<void> => {
    const { job } = names();
    const id = uuidOf(runId === undefined ? bytes : digestOf(JSON.stringify([job, runId])));
    const event = lineageEvent({ runId: id, job, nominalTime: receiver?.nominalTime }, { ...moment, inputs });
    // every text of it, as an endpoint may have been written with a secret in it, and names of columns are keys
    const body = JSON.stringify(event, (_, value: unknown) => redacted(value, io));
    const token = key === '' ? undefined : key;
    const status = await postMessage(addressOf(url), { id, body }, { token, signal });
    if (status < 200 || status >= 300) throw new Error(`It answered ${status}.`);
  };
  return {
    begin(rows) {
      configurations = new Map(rows.map(({ id, configuration }) => [id, configuration]));
      inputs = inputsOf([...configurations.values()]);
      const time = isoTime(systemEnv.now());
      // a receiver that is not there is told of at the end
      begun = post({ type: 'START', time }, AbortSignal.timeout(TIMEOUT_MS)).catch(() => undefined);
    },
    async end({ error, rows }) {
      if (begun === undefined && error === undefined) return; // nothing was run
      const time = isoTime(systemEnv.now());
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      try {
        const format = args.text('format') ?? 'csv';
        const extension = format === 'csv' ? '' : `.${format}`;
        const outputs = await outputsOf(rows, { host, naming: names().naming, extension, configurations });
        await begun;
        const type = error === undefined ? 'COMPLETE' : io.signal.aborted ? 'ABORT' : 'FAIL';
        const message = error === undefined ? undefined : reasonOf(error);
        await post({ type, time, outputs, error: message }, signal);
      } catch (problem) {
        const log = await openLog(args, io);
        log.warn('The receiver of --openlineage could not be told of the run', {
          detail: io.secrets.redactMessage(reasonOf(problem)),
        });
      }
    },
  };
}

function redacted(value: unknown, { secrets }: Io): unknown {
  if (typeof value === 'string') return secrets.redactMessage(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [secrets.redactMessage(key), of]));
}

interface Names {
  readonly job: LineageName;
  readonly naming: ((table: string) => LineageName) | undefined;
}

/** Names the configuration, and tables; a development branch has names of its own. */
function namesOf(args: Args, receiver: LineageReceiver | undefined, host: string): Names {
  const stored = storedArg(args);
  const dataFolder = args.text('data') ?? '.';
  const local = stored === undefined ? path.join(dataFolder, 'storage') : 'storage';
  const storage = receiver?.storage ?? args.text('storage') ?? local;
  const naming = storage === 'none' ? undefined : namingOf(storage, host, process.env);
  if (stored === undefined || naming === undefined)
    return { job: { namespace: `file://${host}`, name: path.resolve(dataFolder) }, naming };
  const branch = receiver === undefined ? stored.branch : receiver.branch;
  const branched = branch === undefined ? naming : (name: string) => naming(`${branch}/${name}`);
  return { job: branched(`${stored.component}/${stored.configuration}`), naming: branched };
}

/** Returns the address that takes events: of a server, that of its API. */
function addressOf(text: string): URL {
  const url = new URL(text);
  return url.pathname === '/' ? new URL('/api/v1/lineage', url) : url;
}

function digestOf(text: string): Uint8Array {
  return createHash('sha256').update(text).digest().subarray(0, 16);
}

/** Makes a UUID of bytes: version 8 of RFC 9562, whose content is free. */
function uuidOf(bytes: Uint8Array): string {
  const own = Uint8Array.from(bytes, (byte, i) =>
    i === 6 ? (byte & 15) | 128 : i === 8 ? (byte & 63) | 128 : byte,
  );
  return Buffer.from(own)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
