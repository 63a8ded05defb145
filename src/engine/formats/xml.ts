import type { Json } from '../../lib/json/index.ts';
import { shownText } from '../../lib/shown-text.ts';
import { piecesOf, type BodyBytes } from './body.ts';
import { broken, type FormatRows, type Measured } from './rows.ts';
import type { XmlSettings } from './format-settings.ts';
import { loadSaxes } from '../../lib/on-demand.ts';
import { XmlTree } from './xml-tree.ts';

export interface XmlOptions {
  readonly settings: XmlSettings;
  /** Names of the elements that lead to the rows, the root first; undefined: the children of the root. */
  readonly path: readonly string[] | undefined;
  /** Encoding that the response declares; it overrides that of the document. */
  readonly charset: string | undefined;
}

/**
 * Reads the elements of an XML document at a path as rows. Attributes are keys that begin with `@`, elements that
 * repeat are lists, text beside them is `#text`. Entities are those of XML alone, nothing external is read, and a
 * document that is nested too deeply is refused.
 */
export function xmlRows(body: BodyBytes, options: XmlOptions): FormatRows {
  return {
    *chunks() {
      for (const { rows } of parse(body, options)) if (rows.length > 0) yield rows;
    },
    *measure(): Generator<undefined, Measured> {
      let count = 0;
      let tree: XmlTree | undefined;
      for (const step of parse(body, options)) {
        count += step.rows.length;
        tree = step.tree;
        yield;
      }
      const path = options.path?.join('.');
      const warning =
        count > 0 || path === undefined || tree === undefined
          ? undefined
          : `The response has no element at “${path}”. ${tree.describe()}`;
      return { rows: count, envelope: tree?.envelope ?? null, warning };
    },
  };
}

/** Reads a whole document as JSON, for responses that are not rows. */
export function xmlDocument(body: BodyBytes, settings: XmlSettings, charset: string | undefined): Json {
  let tree: XmlTree | undefined;
  for (const step of parse(body, { settings, path: [NOWHERE], charset })) ({ tree } = step);
  return tree?.envelope ?? null;
}

/** A name that no element has. */
const NOWHERE = '';

interface Step {
  readonly rows: readonly Json[];
  readonly tree: XmlTree;
}

function* parse(body: BodyBytes, { settings, path, charset }: XmlOptions): Generator<Step> {
  const tree = new XmlTree(settings, path);
  const parser = new (loadSaxes().SaxesParser)({ xmlns: false, position: true });
  const at = (): string => `Line ${parser.line}, column ${parser.column}`;
  parser.on('error', (error) => {
    throw broken(
      `The XML of the response is broken. ${at()}: ${shownText(reasonOf(error))}.`,
      'The answer was cut, or is no XML: ask again, or look at that line with gex explain.',
      error,
    );
  });
  parser.on('opentag', ({ name, attributes }) => tree.open(name, attributes, at));
  parser.on('text', (text) => tree.text(text, false));
  parser.on('cdata', (text) => tree.text(text, true));
  parser.on('closetag', () => tree.close());
  const decoder = new TextDecoder(encodingOf(body, charset), { fatal: true });
  for (const piece of piecesOf(body)) {
    parser.write(decoded(decoder, piece, at));
    yield { rows: tree.take(), tree };
  }
  parser.write(decoded(decoder, undefined, at));
  parser.close();
  yield { rows: tree.take(), tree };
}

/** Returns the reason without the place, which the message already has. */
function reasonOf(error: Error): string {
  return error.message.replace(/^\d+:\d+: /, '').replace(/\.$/, '');
}

function decoded(
  decoder: InstanceType<typeof TextDecoder>,
  piece: Uint8Array | undefined,
  at: () => string,
): string {
  try {
    return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
  } catch (error) {
    throw broken(
      `The XML of the response is not ${decoder.encoding}, somewhere behind ${at().toLowerCase()}.`,
      'The API says the wrong encoding, or the answer was cut.',
      error,
    );
  }
}

const DECLARED = /^(?:\xef\xbb\xbf)?\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([\w.:-]+)["']/;

function encodingOf(body: BodyBytes, charset: string | undefined): string {
  const first = Buffer.from(body.read(0, 256));
  if (first[0] === 0xff && first[1] === 0xfe) return 'utf-16le';
  if (first[0] === 0xfe && first[1] === 0xff) return 'utf-16be';
  const label = charset ?? DECLARED.exec(first.toString('latin1'))?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label).encoding;
  } catch (error) {
    throw broken(
      `The XML of the response says that it is “${label}”, which is no encoding.`,
      undefined,
      error,
    );
  }
}
