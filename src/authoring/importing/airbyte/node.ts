import { RunError } from '../../../lib/errors.ts';

/** A value of a YAML document. */
export type ManifestNode = null | boolean | number | string | readonly ManifestNode[] | NodeMap;
export interface NodeMap {
  readonly [key: string]: ManifestNode;
}

export function isMap(node: ManifestNode | undefined): node is NodeMap {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}

export function isSequence(node: ManifestNode | undefined): node is readonly ManifestNode[] {
  return Array.isArray(node);
}

/** Returns the value of a key that the map itself has. */
export function get(node: ManifestNode | undefined, key: string): ManifestNode | undefined {
  return isMap(node) && Object.hasOwn(node, key) ? node[key] : undefined;
}

/** Creates a map with any keys, `__proto__` included. */
export function mapOf(entries: Iterable<readonly [string, ManifestNode]>): NodeMap {
  return Object.fromEntries(entries);
}

/** Returns the name of a place in the manifest: `streams[0].retriever`. */
export function placeOf(parent: string, key: string | number): string {
  if (typeof key === 'number') return `${parent}[${key}]`;
  const name = /^[\w$#-]+$/.test(key) ? key : JSON.stringify(key);
  return parent === '' ? name : `${parent}.${name}`;
}

/** Creates the error of a manifest that cannot be converted at all. */
export function manifestError(message: string, path: string, hint?: string): RunError {
  return new RunError('import.invalid', message, { where: { path }, hint });
}

/** Returns a scalar as text; a list or a map as JSON, for messages. */
export function shown(node: ManifestNode | undefined): string {
  return typeof node === 'object' && node !== null ? JSON.stringify(node) : String(node ?? '');
}
