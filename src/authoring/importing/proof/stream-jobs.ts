import { encodeExact, type AnyObject } from '../../../lib/json/index.ts';
import type { StreamReport } from '../report.ts';

type Node = Readonly<Record<string, unknown>>;

/** A job of an imported row. */
export interface StreamJob {
  /** JSON path in the component configuration: `parameters.config.jobs[0].children[0]`. */
  readonly at: string;
  readonly name: string;
  /** Names of the jobs above it and its own, as a state names it. */
  readonly path: readonly string[];
  readonly dataType: string;
  readonly node: Node;
  /** Rows of it make a table. */
  readonly isTable: boolean;
  readonly isChild: boolean;
}

/** Returns all jobs of a row, those below others too. */
export function jobsOf(configuration: Node): readonly StreamJob[] {
  const config = mapOf(mapOf(configuration['parameters'])['config']);
  return jobsIn(config['jobs'], 'parameters.config.jobs', []);
}

/** Returns the jobs whose rows are those of a stream: by its name, or where it is alone in its row all with tables. */
export function jobsOfStream(jobs: readonly StreamJob[], { stream }: StreamReport): readonly StreamJob[] {
  const named = jobs.filter(
    ({ dataType, name, isTable }) => isTable && (dataType === stream || name === stream),
  );
  return named.length > 0 ? named : jobs.filter(({ isTable }) => isTable);
}

function jobsIn(node: unknown, at: string, above: readonly string[]): readonly StreamJob[] {
  if (!Array.isArray(node)) return [];
  return node.flatMap((item: unknown, index) => {
    const job = mapOf(item);
    const dataType = textOf(job['dataType'] ?? job['endpoint']);
    const name = textOf(job['id'] ?? dataType);
    const place = `${at}[${index}]`;
    const own = [...above, name];
    return [
      {
        at: place,
        name,
        path: own,
        dataType,
        node: job,
        isTable: job['table'] !== false && !neverHolds(job['where']),
        isChild: above.length > 0,
      },
      ...jobsIn(job['children'], `${place}.children`, own),
    ];
  });
}

/** Tells whether a condition leaves out all rows: that of a parent without a table. */
function neverHolds(where: unknown): boolean {
  return JSON.stringify(where ?? null) === '{"value":{"value":null},"is":"present"}';
}

/** Returns a configuration as JSON of the platform has it. */
export function plainConfiguration(configuration: AnyObject): Node {
  return mapOf(JSON.parse(encodeExact(configuration)));
}

export function mapOf(node: unknown): Node {
  return typeof node === 'object' && node !== null && !Array.isArray(node) ? (node as Node) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
