import { parseConfig, planRows, resolveSecrets, resourceOf } from '../../../engine/config/index.ts';
import type { Send } from '../../../engine/shared/message.ts';
import type { Env } from '../../../lib/env.ts';
import { describeError } from '../../../lib/errors.ts';
import { encodeExact, type AnyObject } from '../../../lib/json/index.ts';
import type { Secrets } from '../../../lib/secrets.ts';
import type { Imported, SettingReport, StreamReport, StreamTrial } from '../report.ts';
import { disableRows } from '../disable-rows.ts';
import { judgeSample } from './judge-sample.ts';
import { runSample, type SampleRun } from './sample-run.ts';
import { mapOf, plainConfiguration } from './stream-jobs.ts';

export interface ProveOptions {
  /** Values of `$env:NAME`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly env: Env;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
  /** In the network's place: a recording. */
  readonly bottom?: Send | undefined;
  /** Told each stream that is about to be run. */
  readonly onStream?: (stream: string) => void;
}

/**
 * Runs each stream of an import for a few requests, and compares with what the import claims. A stream that differs
 * loses its level, and its row is disabled.
 *
 * @throws the reason of the signal
 */
export async function prove(imported: Imported, options: ProveOptions): Promise<Imported> {
  const { configuration, report } = imported;
  const text = JSON.stringify(configuration);
  const rows = planRows(resourceOf(parseConfig(text)), rowsOf(report.streams)).runs;
  const samples = new Map<string | undefined, Ran>();
  const streams: StreamReport[] = [];
  for (const stream of report.streams) {
    const run = rows.find(({ id }) => id === stream.row);
    if (stream.outcome === 'not' || run === undefined) {
      streams.push({ ...stream, trial: notTried('It was not taken over.') });
      continue;
    }
    const open = report.settings.filter((setting) => isNeeded(setting, run.configuration, options));
    if (open.length > 0) {
      const names = open.map(({ key }) => `parameters.config.${key}`).join(', ');
      streams.push({ ...stream, trial: notTried(`Settings have no value yet: ${names}.`) });
      continue;
    }
    options.onStream?.(stream.stream);
    const ran = samples.get(run.id) ?? (await sampleOf(run.configuration, options));
    samples.set(run.id, ran);
    const trial =
      'why' in ran
        ? notTried(options.secrets.redactMessage(ran.why))
        : judgeSample(stream, {
            configuration: plainConfiguration(run.configuration),
            sample: ran,
            secrets: options.secrets,
          });
    streams.push(withTrial(stream, trial));
  }
  const wrong = streams.filter(({ trial }) => trial?.result === 'differs').map(({ row }) => row);
  return {
    configuration: disableRows(configuration, new Set(wrong)),
    report: { ...report, streams },
  };
}

type Ran = SampleRun | { readonly why: string };

async function sampleOf(configuration: AnyObject, options: ProveOptions): Promise<Ran> {
  let resolved: AnyObject;
  try {
    resolved = resolveSecrets(configuration, options.environment);
  } catch (error) {
    return { why: describeError(error) };
  }
  return await runSample({ ...options, configuration: resolved });
}

function withTrial(stream: StreamReport, trial: StreamTrial): StreamReport {
  if (trial.result !== 'differs') return { ...stream, trial };
  const path = `the check of ${stream.row === undefined ? 'the configuration' : `the row “${stream.row}”`}`;
  return {
    ...stream,
    outcome: 'not',
    reasons: [...stream.reasons, ...trial.reasons.map((message) => ({ path, message }))],
    trial,
  };
}

function notTried(why: string): StreamTrial {
  return { result: 'not tried', reasons: [why], seen: [], unseen: [], requests: 0 };
}

/** Tells whether a setting without a value is one that a row cannot do without. */
function isNeeded(
  { key, isRequired }: SettingReport,
  configuration: AnyObject,
  { environment }: ProveOptions,
): boolean {
  if (!isRequired || !encodeExact(configuration).includes(`"${key}"`)) return false;
  let value: unknown = plainConfiguration(configuration)['parameters'];
  for (const part of ['config', ...key.split('.')]) value = mapOf(value)[part];
  const variable = typeof value === 'string' ? /^\$env:(\w+)$/.exec(value)?.[1] : undefined;
  return variable === undefined || (environment[variable] ?? '') === '';
}

function rowsOf(streams: readonly StreamReport[]): readonly string[] {
  return [...new Set(streams.flatMap(({ row }) => row ?? []))];
}
