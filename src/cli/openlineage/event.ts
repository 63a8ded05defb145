import { VERSION } from '../../lib/version.ts';
import type { Column, LineageName, OutputTable } from './datasets.ts';

/** A run of a configuration, as all of its events tell it. */
export interface LineageRun {
  readonly runId: string;
  readonly job: LineageName;
  /** The time of a schedule that it is for. */
  readonly nominalTime?: string | undefined;
}

export interface LineageMoment {
  readonly type: 'ABORT' | 'COMPLETE' | 'FAIL' | 'START';
  readonly time: string;
  readonly inputs: readonly LineageName[];
  readonly outputs?: readonly OutputTable[];
  /** Message of the error that ended it. */
  readonly error?: string | undefined;
}

const SPEC = 'https://openlineage.io/spec';
const PRODUCER = `https://generic-extractor/${VERSION}`;

/** Returns an event in the form of OpenLineage 2-0-2. */
export function lineageEvent(
  { runId, job, nominalTime }: LineageRun,
  { type, time, inputs, outputs = [], error }: LineageMoment,
): Readonly<Record<string, unknown>> {
  const runFacets = {
    ...(nominalTime === undefined
      ? {}
      : { nominalTime: facet('NominalTimeRunFacet', '1-0-1', { nominalStartTime: nominalTime }) }),
    ...(error === undefined
      ? {}
      : {
          errorMessage: facet('ErrorMessageRunFacet', '1-0-1', {
            message: error,
            programmingLanguage: 'TypeScript',
          }),
        }),
  };
  const jobType = facet('JobTypeJobFacet', '2-0-3', {
    processingType: 'BATCH',
    integration: 'GENERIC_EXTRACTOR',
    jobType: 'JOB',
  });
  return {
    eventType: type,
    eventTime: time,
    producer: PRODUCER,
    schemaURL: `${SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent`,
    run: { runId, facets: runFacets },
    job: { ...job, facets: { jobType } },
    inputs: inputs.map((input) => ({ ...input, facets: {} })),
    outputs: outputs.map(outputJson),
  };
}

function outputJson({ namespace, name, columns, rows, bytes }: OutputTable) {
  return {
    namespace,
    name,
    facets: columnFacets(columns),
    outputFacets: {
      outputStatistics: facet('OutputStatisticsOutputDatasetFacet', '1-0-2', { rowCount: rows, size: bytes }),
    },
  };
}

function columnFacets(columns: readonly Column[]): Readonly<Record<string, unknown>> {
  if (columns.length === 0) return {};
  const fields = columns.map(({ name, type }) => ({ name, type }));
  const schema = facet('SchemaDatasetFacet', '1-1-1', { fields });
  const led = columns.filter(({ from }) => from.length > 0);
  if (led.length === 0) return { schema };
  const lineage = Object.fromEntries(
    led.map(({ name, from }) => [
      name,
      {
        inputFields: from.map((field) => ({
          ...field,
          transformations: [{ type: 'DIRECT', subtype: 'IDENTITY' }],
        })),
      },
    ]),
  );
  return { schema, columnLineage: facet('ColumnLineageDatasetFacet', '1-2-0', { fields: lineage }) };
}

function facet(name: string, version: string, content: Readonly<Record<string, unknown>>) {
  const schema = `${SPEC}/facets/${version}/${name}.json#/$defs/${name}`;
  return { _producer: PRODUCER, _schemaURL: schema, ...content };
}
