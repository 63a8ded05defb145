import { encodeExact, type AnyObject } from '../../../lib/json/index.ts';
import { mapOf } from '../proof/stream-jobs.ts';
import type { ConversionOutcome, Imported, StreamReport } from '../report.ts';

type Node = Readonly<Record<string, unknown>>;

export interface ComponentImportOptions {
  readonly source: string;
  readonly name: string;
  /** `more`: which rows come here that the other tool leaves out. */
  readonly stream: Pick<StreamReport, 'columns' | 'notes' | 'reasons'> & {
    readonly more?: readonly string[];
  };
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
  const { more = [], ...told } = stream;
  const { reasons, columns, notes } = told;
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
          ...told,
          notes: [...more, ...notes],
          stream: name,
          outcome: outcomeOf(reasons.length, more.length, columns.length),
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

function outcomeOf(reasons: number, more: number, columns: number): ConversionOutcome {
  if (reasons > 0) return 'not';
  if (more > 0) return 'more rows';
  return columns > 0 ? 'equal rows, other columns' : 'exact';
}
