import { collectSecrets, planRows, readConfig, resolveSecrets, resourceOf } from '../engine/config/index.ts';
import { changedKey } from '../engine/recording/head.ts';
import type { OpenRecording } from '../runner/recordings.ts';
import type { Secrets } from '../lib/secrets.ts';
import { VERSION } from '../lib/version.ts';

/**
 * Registers the secrets of the configuration: a recording has no credentials, but an API may have echoed some in its
 * answers.
 */
export async function learnSecrets(dataFolder: string, secrets: Secrets): Promise<void> {
  const add = (value: Parameters<typeof collectSecrets>[0]): void => {
    for (const secret of collectSecrets(value)) secrets.add(secret);
  };
  for (const configuration of (await configurations(dataFolder))?.values() ?? []) add(configuration);
  await readConfig(dataFolder).then(
    ({ value }) => add(value),
    () => undefined,
  );
}

/**
 * Describes the differences between a recording and a run of today, in sentences.
 *
 * @param dataFolder whose configuration was run; undefined when that is not known
 */
export async function changesOf(
  recordings: readonly OpenRecording[],
  dataFolder: string | undefined,
): Promise<readonly string[]> {
  const now = dataFolder === undefined ? undefined : await configurations(dataFolder);
  return recordings.flatMap(({ row, scanned, damagedBytes }) => {
    const of = row === undefined ? '' : ` of row “${row}”`;
    const { head } = scanned;
    const notes: string[] = [];
    if (head.version !== VERSION)
      notes.push(`The recording${of} was made by version ${head.version}, and this is ${VERSION}.`);
    if (damagedBytes > 0)
      notes.push(`The end of the recording${of} is damaged: ${damagedBytes} bytes of it are not shown.`);
    const configuration = now?.get(row);
    const key = configuration === undefined ? undefined : changedKey(head, configuration);
    if (key !== undefined)
      notes.push(
        `The configuration${of} has changed since that run, first at “${key}”: this is what it did then.`,
      );
    return notes;
  });
}

type Configurations = ReadonlyMap<string | undefined, Parameters<typeof changedKey>[1]>;

async function configurations(dataFolder: string): Promise<Configurations | undefined> {
  try {
    const { runs } = planRows(resourceOf(await readConfig(dataFolder)));
    return new Map(runs.map(({ id, configuration }) => [id, resolveSecrets(configuration, process.env)]));
  } catch {
    return undefined; // it may be broken, or encrypted: a recording can be explained without it
  }
}
