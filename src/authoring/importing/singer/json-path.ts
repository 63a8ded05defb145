/** Path to the rows, as Singer's SDK reads it. */
export interface RowsJsonPath {
  /** As a job has it. */
  readonly dataField: string;
  /** The rows are the items of a list; else the value itself is one row. */
  readonly isList: boolean;
}

/** Reads a JSONPath of plain keys, at whose end may be `[*]`; undefined for any other. */
export function plainJsonPath(text: string): RowsJsonPath | undefined {
  const isList = text.endsWith('[*]');
  const body = isList ? text.slice(0, -3) : text;
  if (!body.startsWith('$')) return undefined;
  const keys: string[] = [];
  let rest = body.slice(1);
  while (rest !== '') {
    const match = /^\.([A-Za-z_@][\w@-]*)|^\[(?:'([^'\]]+)'|"([^"\]]+)")\]/.exec(rest);
    const key = match?.[1] ?? match?.[2] ?? match?.[3];
    if (match === null || key === undefined || key.includes('.')) return undefined;
    keys.push(key);
    rest = rest.slice(match[0].length);
  }
  return { dataField: keys.join('.'), isList };
}
