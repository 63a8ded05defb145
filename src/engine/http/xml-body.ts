import { HttpError } from '../../lib/errors.ts';
import { entriesOf, isList, isObject, toText, type AnyObject, type Json } from '../../lib/json/index.ts';
import { kindOf } from '../../lib/read-settings.ts';
import { escapeXml } from '../../lib/escapes.ts';

/**
 * Writes an XML document from an object with one key, its outermost element. `@name` is an attribute, `#text` the text
 * beside attributes, a list the element repeated, null an element without content.
 *
 * ```
 * {"find": {"@xmlns": "urn:x", "id": [1, 2]}}  →  <find xmlns="urn:x"><id>1</id><id>2</id></find>
 * ```
 *
 * @throws {HttpError} `job.invalid` for a name that XML does not have, or other than one outermost element
 */
export function encodeXml(value: Json): string {
  const entries = isObject(value) ? entriesOf(value) : [];
  const [root] = entries;
  if (root === undefined || entries.length > 1 || isList(root[1]) || /^[@#]/.test(root[0])) {
    const found = isObject(value) ? `${entries.length} keys` : kindOf(value);
    throw invalid(`An XML body needs an object with one key, the outermost element, and here is ${found}.`);
  }
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element(root[0], root[1])}`;
}

function element(name: string, value: Json): string {
  checkName(name);
  if (isList(value)) return value.map((item) => element(name, item)).join('');
  if (!isObject(value))
    return value === null ? `<${name}/>` : `<${name}>${escapeXml(scalarText(value))}</${name}>`;
  const attributes = entriesOf(value)
    .filter(([key]) => key.startsWith('@'))
    .map(([key, item]) => attribute(key.slice(1), item))
    .join('');
  const content = contentOf(value);
  return content === '' ? `<${name}${attributes}/>` : `<${name}${attributes}>${content}</${name}>`;
}

function contentOf(value: AnyObject): string {
  return entriesOf(value)
    .filter(([key]) => !key.startsWith('@'))
    .map(([key, item]) => (key === '#text' ? escapeXml(scalarText(item)) : element(key, item)))
    .join('');
}

function attribute(name: string, value: Json): string {
  checkName(name);
  if (isObject(value) || isList(value))
    throw invalid(`The attribute “${name}” of the XML body is ${kindOf(value)}, not a text.`);
  return ` ${name}="${escapeXml(scalarText(value)).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')}"`;
}

function scalarText(value: Json): string {
  // PHP's text of false is empty; a document says it
  return typeof value === 'boolean' ? String(value) : toText(value);
}

/** Checks a name by XML 1.0, production 5; with colons, for prefixes of namespaces. */
function checkName(name: string): void {
  // here and not above, as the tables of letters would be made at each start
  if (!/^[:_\p{L}][-:_.\p{L}\p{N}\p{M}·]*$/u.test(name))
    throw invalid(`“${name}” is no name of an element or attribute of XML.`);
}

function invalid(message: string): HttpError {
  return new HttpError('job.invalid', message, {
    hint: 'Write {"element": {"@attribute": "…", "child": "…"}} in “body”, or give the XML as a text.',
  });
}
