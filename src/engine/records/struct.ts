import { RecordError } from '../../lib/errors.ts';
import {
  entriesOf,
  getKey,
  isObject,
  keysOf,
  objectOf,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { StructureNode, type ValueKind, type Structure } from './structure.ts';
import { kindNames, kindsFrom } from './types/column-type.ts';

/** Version of the stored form. */
export const STRUCT_VERSION = 3;

const KINDS: ReadonlySet<string> = new Set(['null', 'scalar', 'object', 'array']);

/**
 * Returns the structure as the state file keeps it: property keys have `_` in front.
 *
 * @param untyped data types whose values were not all looked at
 */
export function structToJson(structure: Structure, untyped: ReadonlySet<string> = new Set()): Json {
  const types: [string, Json][] = [];
  for (const [dataType, item] of structure.types) {
    if (item.kind !== 'null')
      types.push([
        `_${dataType}`,
        objectOf([
          ['[]', nodeToJson(item, 'data', !untyped.has(dataType))],
          ['nodeType', 'array'],
        ]),
      ]);
  }
  return objectOf([
    ['data', objectOf(types)],
    ['parent_aliases', []],
  ]);
}

function nodeToJson(node: StructureNode, name: string | undefined, isTyped: boolean): Json {
  const entries: [string, Json][] = [];
  for (const [key, child] of node.props) entries.push([`_${key}`, nodeToJson(child, child.name, isTyped)]);
  if (node.item !== undefined) entries.push(['[]', nodeToJson(node.item, 'data', isTyped)]);
  entries.push(['nodeType', node.kind]);
  if (name !== undefined) entries.push(['headerNames', name]);
  // a map, so that the merge of two structures is the join of the kinds
  if (isTyped && node.seen.kinds > 0 && node.kind !== 'array' && node.kind !== 'object')
    entries.push(['types', objectOf(kindNames(node.seen.kinds).map((kind) => [kind, true]))]);
  return objectOf(entries);
}

/** @throws {RecordError} when the stored form is not understood */
export function structFromJson(struct: Json, structure: Structure): void {
  const data = isObject(struct) ? getKey(struct, 'data') : undefined;
  if (!isObject(data)) {
    if (Array.isArray(data) && data.length === 0) return;
    throw invalid('it has no “data”');
  }
  for (const [key, type] of entriesOf(data)) {
    const item = isObject(type) ? getKey(type, '[]') : undefined;
    if (!isObject(item)) continue;
    const node = readNode(item, key.slice(1));
    structure.types.set(key.slice(1), node);
    structure.nameColumns(key.slice(1));
  }
  structure.version++;
}

function readNode(json: AnyObject, path: string): StructureNode {
  const node = new StructureNode(path);
  const kind = getKey(json, 'nodeType');
  if (typeof kind !== 'string' || !KINDS.has(kind)) throw invalid(`“${path}” has no known nodeType`);
  node.kind = kind as ValueKind; // the set above holds the kinds
  const types = getKey(json, 'types');
  if (isObject(types)) node.seen.know(kindsFrom(keysOf(types)));
  for (const [key, value] of entriesOf(json)) {
    if (!isObject(value)) continue;
    if (key === '[]') node.item = readNode(value, path);
    else if (key.startsWith('_')) {
      const child = readNode(value, `${path}.${key.slice(1)}`);
      const name = getKey(value, 'headerNames');
      if (typeof name === 'string') child.name = name;
      node.props.set(key.slice(1), child);
    }
  }
  if (node.kind === 'array' && node.item === undefined) node.item = new StructureNode(path);
  return node;
}

function invalid(reason: string): RecordError {
  return new RecordError(
    'records.invalid',
    `The structure stored in the state is not understood: ${reason}`,
    {
      hint: 'Run with --reset-state to start without it.',
    },
  );
}
