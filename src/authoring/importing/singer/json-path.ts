/** Path to the rows, as Singer's SDK reads it. */
export interface RowsJsonPath {
  /** As a job has it. */
  readonly dataField: string;
  /** The rows are the items of a list; else the value itself is one row. */
  readonly isList: boolean;
}

/**
 * Reads a JSONPath of plain keys, at whose end may be `[*]`; undefined for any other. A dot may stand before brackets
 * (`$.[*]`), and `$` may be left out (`items[*]`).
 */
export function plainJsonPath(text: string): RowsJsonPath | undefined {
  const path = /^[A-Za-z_]/.test(text) ? `$.${text}` : text;
  const isList = /\[(?:\*|0?:)\]$/.test(path);
  const list = isList ? path.slice(0, path.lastIndexOf('[')).replace(/\.$/, '') : path;
  const body = list.replaceAll('.[', '[');
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
