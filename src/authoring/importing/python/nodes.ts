import type { PythonNode } from './python-file.ts';

/** Returns the parts of a node without comments. */
export function children(node: PythonNode): readonly PythonNode[] {
  const all: PythonNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling)
    if (child.name !== 'Comment') all.push(child);
  return all;
}

/** Returns the nodes between brackets, in groups that commas separate. */
export function groups(node: PythonNode): readonly (readonly PythonNode[])[] {
  const all: PythonNode[][] = [[]];
  for (const child of children(node).slice(1, -1)) {
    if (child.name === ',') all.push([]);
    else all.at(-1)?.push(child);
  }
  return all;
}
