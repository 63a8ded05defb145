import { encodeExact, type AnyObject } from '../../../lib/json/index.ts';
import { mapOf } from '../proof/stream-jobs.ts';
import type { Imported, StreamReport } from '../report.ts';

type Node = Readonly<Record<string, unknown>>;

export interface ComponentImportOptions {
  readonly source: string;
  readonly name: string;
  readonly stream: Pick<StreamReport, 'columns' | 'notes' | 'reasons'>;
  /** Variables of the environment that are to be set before a run. */
  readonly variables: readonly string[];
}

/** Makes an import of a configuration of one job: what is common stays above, and the job is a row. */
export function componentImport(
  configuration: AnyObject,
  { source, name, stream, variables }: ComponentImportOptions,
): Imported {
  const parameters: Node = mapOf(mapOf(JSON.parse(encodeExact(configuration)))['parameters']);
  const { pagination, ...api } = mapOf(parameters['api']);
  const { jobs, ...config } = mapOf(parameters['config']);
  const { aws } = parameters;
  const [job] = Array.isArray(jobs) ? jobs.map(mapOf) : [];
  const id = name.replace(/[^A-Za-z0-9_-]+/g, '-') || 'rows';
  const { reasons, columns } = stream;
  return {
    configuration: {
      name,
      configuration: {
        parameters: { api, ...(aws === undefined ? {} : { aws }), config: { outputBucket: id, ...config } },
      },
      rows: [
        {
          id,
          name,
          ...(reasons.length > 0 ? { isDisabled: true } : {}),
          configuration: {
            parameters: {
              config: { jobs: [{ ...job, ...(pagination === undefined ? {} : { pagination }) }] },
            },
          },
        },
      ],
    },
    report: {
      source,
      streams: [
        {
          ...stream,
          stream: name,
          outcome: reasons.length > 0 ? 'not' : columns.length > 0 ? 'equal rows, other columns' : 'exact',
          row: id,
        },
      ],
      settings: [],
      notes: variables.map(
        (variable) => `The value of $${variable} is not in the configuration: set it before a run.`,
      ),
    },
  };
}
