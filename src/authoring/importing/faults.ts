import { isNumeric } from './numeric.ts';
import type { ImportReason } from './report.ts';

/** Something in an imported row that it may not claim to be exact with. */
export interface ImportFault extends ImportReason {
  /** It is about a column alone: the rows are the same. */
  readonly isColumn: boolean;
}

type Node = Readonly<Record<string, unknown>>;

/**
 * Looks through an imported row for what validation takes and a run would read in another way: a template that is still
 * there, a number where a date is read, a placeholder that nothing fills, and a state that is kept by the time of the
 * run, which no later run finds.
 *
 * @param faultless parts of rows that have none, which is added to: rows have many in common
 */
export function faultsOf(row: Node, at: string, faultless: Set<unknown> = new Set()): readonly ImportFault[] {
  const place = `${at}.configuration.parameters`;
  const parameters = mapOf(mapOf(row['configuration'])['parameters']);
  return [
    ...valuesIn(parameters, { path: place }, faultless),
    ...jobsIn(mapOf(parameters['config'])['jobs']).flatMap((job, index) =>
      jobFaults(job, `${place}.config.jobs[${index}]`, new Set(), false),
    ),
  ];
}

/** Looks through what all rows have in common in the same way. */
export function faultsOfApi(api: unknown): readonly ImportFault[] {
  return valuesIn(api, { path: 'configuration.parameters.api' }, new Set());
}

/** Place of a value: few have a fault, so that paths are written out only for these. */
interface Place {
  readonly above?: Place;
  /** Part of the path that is not in the one above. */
  readonly path: string;
}

function pathOf({ above, path }: Place): string {
  return above === undefined ? path : pathOf(above) + path;
}

/** Tells if nothing in a value can have a fault: so it is with most, and no path is made for them. */
function isFaultless(node: unknown, faultless: Set<unknown>): boolean {
  if (typeof node === 'string') return !node.includes('{{');
  if (typeof node !== 'object' || node === null || faultless.has(node)) return true;
  if (Array.isArray(node)) {
    for (const item of node) if (!isFaultless(item, faultless)) return false;
  } else {
    const map = mapOf(node);
    if (map['function'] === 'strtotime') return false;
    for (const key in map) if (key.includes('{{') || !isFaultless(map[key], faultless)) return false;
  }
  faultless.add(node);
  return true;
}

function valuesIn(
  node: unknown,
  place: Place,
  faultless: Set<unknown>,
  found: ImportFault[] = [],
): readonly ImportFault[] {
  if (isFaultless(node, faultless)) return found;
  const fault = (message: string, isColumn = /\.columns\./.test(pathOf(place))): void =>
    void found.push({ path: pathOf(place), message, isColumn });
  if (typeof node === 'string') {
    if (node.includes('{{')) fault(`A template is still there: ${node}`);
    return found;
  }
  const { function: name, args } = mapOf(node);
  if (name === 'strtotime' && Array.isArray(args) && isNumeric(args[0])) fault('A number is read as a date');
  for (const [index, item] of Array.isArray(node) ? node.entries() : [])
    valuesIn(item, { above: place, path: `[${index}]` }, faultless, found);
  for (const [key, value] of Object.entries(mapOf(node))) {
    if (key.includes('{{')) fault(`A key is a template still: ${key}`, pathOf(place).endsWith('.columns'));
    valuesIn(value, { above: place, path: `.${key}` }, faultless, found);
  }
  return found;
}

/** @param isByTime a placeholder above depends on the time of the run */
function jobFaults(
  job: Node,
  path: string,
  above: ReadonlySet<string>,
  isByTime: boolean,
): readonly ImportFault[] {
  const { children, placeholders, over, incremental, columns: _, ...asked } = job;
  const names = new Set([...above, ...Object.keys(mapOf(placeholders)), ...Object.keys(mapOf(over))]);
  const byTime = isByTime || JSON.stringify(placeholders ?? '').includes('"time":');
  const unknown = placeholdersIn(asked).filter((name) => !names.has(name));
  const { perParent } = mapOf(incremental);
  return [
    ...unknown.map((name) => ({
      path,
      message: `Nothing fills the placeholder “${name}”`,
      isColumn: false,
    })),
    ...(incremental !== undefined && perParent !== false && byTime
      ? [
          {
            path: `${path}.incremental`,
            message: 'The state is kept by the time of the run',
            isColumn: false,
          },
        ]
      : []),
    ...jobsIn(children).flatMap((child, index) =>
      jobFaults(child, `${path}.children[${index}]`, names, byTime),
    ),
  ];
}

/** Returns the placeholders that values of a request refer to, other than as braces in a text. */
function placeholdersIn(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(placeholdersIn);
  const map = mapOf(node);
  const { placeholder } = map;
  if (typeof placeholder === 'string') return [placeholder];
  return Object.values(map).flatMap(placeholdersIn);
}

function jobsIn(node: unknown): readonly Node[] {
  return Array.isArray(node) ? node.map(mapOf) : [];
}

function mapOf(node: unknown): Node {
  return typeof node === 'object' && node !== null && !Array.isArray(node) ? (node as Node) : {};
}
