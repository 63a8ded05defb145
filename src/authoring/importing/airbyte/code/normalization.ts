import { children } from '../../python/nodes.ts';
import type { PythonNode } from '../../python/python-file.ts';
import { get, isMap, isSequence, type ManifestNode } from '../node.ts';
import { oncePerClass } from './once.ts';
import { CodeRefused } from './refused.ts';

/** A condition on the format of a field in the schema. */
const FORMAT = /\b(\w+)(?:\.get\(\s*["']format["']\s*\)|\[["']format["']\])\s*==\s*["']([\w-]+)["']/;

/**
 * Returns the formats of the fields whose values a normaliser of Python changes. Every value that it gives back but the
 * one that it got has to stand below a condition on the format.
 *
 * @throws {CodeRefused} for code that may change any field
 */
export const normalizedFormats = oncePerClass((type): ReadonlySet<string> => {
  const { module } = type;
  const { file } = module;
  const [base = ''] = type.bases;
  if (!base.endsWith('.TypeTransformer') || type.bases.length > 1)
    throw new CodeRefused(`${module.path}: a class that extends ${type.bases.join(', ') || 'nothing'}`);
  const registered = file.nodes('CallExpression').filter((node) => {
    const [callee] = children(node);
    return callee !== undefined && file.text(callee).endsWith('.registerCustomTransform');
  });
  if (registered.length === 0) return new Set();
  const functions = file
    .nodes('FunctionDefinition')
    .filter((node) => [...type.methods.values()].some((method) => isWithin(node, method.node)));
  const formats = new Set<string>();
  let count = 0;
  for (const definition of functions) {
    const given = parametersOf(
      file.text(children(definition).find((part) => part.name === 'ParamList') ?? definition),
    );
    // what is registered gets a value and the schema of its field
    const [value, schema] = given.filter((name) => name !== 'self');
    if (value === undefined || schema === undefined || given.includes('args')) continue;
    count++;
    for (const node of file.nodesIn('ReturnStatement', definition)) {
      const result = file.oneLine(node).replace(/^return\s*/, '');
      if (result === value) continue;
      const format = formatAround(node, definition, schema, (part) => file.oneLine(part));
      if (format === undefined)
        throw new CodeRefused(
          `${module.path}, line ${file.place(node.from).line}: “${result}”, of any field`,
        );
      formats.add(format);
    }
    const isRebound = ['AssignStatement', 'UpdateStatement', 'NamedExpression']
      .flatMap((kind) => file.nodesIn(kind, definition))
      .some((node) => {
        const [target] = children(node);
        return target !== undefined && file.text(target) === value;
      });
    if (isRebound) throw new CodeRefused(`${module.path}: ${type.name} gives “${value}” another value`);
  }
  if (count !== 1) throw new CodeRefused(`${module.path}: ${type.name} has several functions`);
  return formats;
});

function isWithin(node: PythonNode, outer: PythonNode): boolean {
  return node.from >= outer.from && node.to <= outer.to;
}

function parametersOf(list: string): readonly string[] {
  return [...list.matchAll(/[(,]\s*\**(\w+)/g)].map(([, name = '']) => name);
}

/** Returns the format that a condition around a node asks for; an `else` has none. */
function formatAround(
  node: PythonNode,
  definition: PythonNode,
  schema: string,
  text: (node: PythonNode) => string,
): string | undefined {
  for (let at = node.parent; at !== null && at.from >= definition.from; at = at.parent) {
    if (at.name !== 'IfStatement') continue;
    const parts = children(at);
    const body = parts.findIndex((part) => part.name === 'Body' && isWithin(node, part));
    const condition = parts[body - 1];
    const [word] = parts.slice(0, body - 1).slice(-1);
    if (condition === undefined || word === undefined || !/^(?:if|elif)$/.test(word.name)) continue;
    const said = text(condition);
    const [, of, format] = FORMAT.exec(said) ?? [];
    if (of === schema && format !== undefined && !/\b(?:or|not)\b/.test(said)) return format;
  }
  return undefined;
}

/** Returns the fields at the top of a schema that have one of the formats; undefined without a schema in the manifest. */
export function fieldsWithFormat(
  loader: ManifestNode | undefined,
  formats: ReadonlySet<string>,
): ReadonlySet<string> | undefined {
  const properties = get(get(loader, 'schema'), 'properties');
  if (!isMap(properties)) return undefined;
  const has = (schema: ManifestNode | undefined): boolean => {
    if (!isMap(schema)) return false;
    const format = schema['format'];
    if (typeof format === 'string' && formats.has(format)) return true;
    const { items, properties: inner } = schema;
    const branches = ['oneOf', 'anyOf', 'allOf'].flatMap((word) => {
      const listed = schema[word];
      return isSequence(listed) ? listed : [];
    });
    return [...branches, ...(isMap(inner) ? Object.values(inner) : []), items].some((part) => has(part));
  };
  return new Set(Object.entries(properties).flatMap(([name, schema]) => (has(schema) ? [name] : [])));
}
