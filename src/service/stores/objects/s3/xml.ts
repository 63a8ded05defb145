import { XMLParser } from 'fast-xml-parser';
import { ObjectError } from '../errors.ts';

/** An element: its name, and its text or its children; children that are undefined are left out. */
export type Element = readonly [
  name: string,
  content: string | number | boolean | readonly (Element | undefined)[],
];

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';
export const XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** The root element, in the namespace of S3 unless it is an error. */
export function xmlText([name, content]: Element): string {
  const namespace = name === 'Error' ? '' : ` xmlns="${NAMESPACE}"`;
  return `<${name}${namespace}>${contentText(content)}</${name}>`;
}

/**
 * Parses the XML of a client into plain objects; `lists` names the elements that are lists even when there is one of
 * them. `MalformedXML` for anything else. Document types are refused: nothing of this protocol has them.
 */
export function readXml(bytes: Uint8Array, lists: readonly string[]): Readonly<Record<string, unknown>> {
  const text = Buffer.from(bytes).toString('utf8');
  if (/<!DOCTYPE/i.test(text) || hasMany(text, MAX_SIGNS)) throw malformedXml();
  const parser = new XMLParser({
    parseTagValue: false,
    trimValues: false,
    ignoreDeclaration: true,
    removeNSPrefix: true,
    processEntities: false,
    tagValueProcessor: (_name, value) => decodeEntities(value),
    isArray: (name) => lists.includes(name),
  });
  try {
    const parsed: unknown = parser.parse(text, true);
    if (isRecord(parsed)) return parsed;
  } catch (error) {
    throw new ObjectError('MalformedXML', 'The body is not well-formed XML.', { cause: error });
  }
  throw malformedXml();
}

/** Ten thousand parts have less, with both tags of each element and all checksums. */
const MAX_SIGNS = 300_000;

/** Tells whether the text has more than `most` tags and attributes, however short: it would take too long to parse. */
function hasMany(text: string, most: number): boolean {
  let count = 0;
  for (const sign of ['<', '='])
    for (let at = text.indexOf(sign); at !== -1 && count <= most; at = text.indexOf(sign, at + 1)) count += 1;
  return count > most;
}

export function malformedXml(): ObjectError {
  return new ObjectError('MalformedXML', 'The body is not the XML that this operation takes.');
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function contentText(content: Element[1]): string {
  if (!Array.isArray(content)) return escape(String(content));
  return (content as readonly (Element | undefined)[])
    .filter((child) => child !== undefined)
    .map(([name, inner]) => `<${name}>${contentText(inner)}</${name}>`)
    .join('');
}

/** Control characters go as numbers: XML 1.0 has no better way, and a bare CR would be read as a line feed. */
function escape(text: string): string {
  return text.replaceAll(/[&<>"\p{Cc}]/gu, (char) => NAMED[char] ?? `&#x${char.charCodeAt(0).toString(16)};`);
}

const NAMED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  return text.replaceAll(
    /&(?:#x([0-9a-fA-F]{1,6})|#(\d{1,7})|(\w+));/g,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return CHARACTERS[name] ?? whole;
      const code = hex === undefined ? Number.parseInt(decimal ?? '', 10) : Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
