/** One link of a `Link` header (RFC 8288). */
export interface Link {
  /** The reference between `<` and `>`, byte for byte; it may be relative. */
  readonly target: string;
  /** Relation types, in lower case. */
  readonly rels: readonly string[];
  /** The context of the link, when it is not the page itself. */
  readonly anchor?: string;
  /** All its parameters, names in lower case. */
  readonly attributes: ReadonlyMap<string, string>;
}

/**
 * Parses the links of a `Link` header, by the algorithm of RFC 8288, appendix B. The rest behind a broken part is
 * ignored. Headers that come several times are joined by commas.
 */
export function parseLinkHeader(header: string): readonly Link[] {
  const links: Link[] = [];
  const text = new Scan(header);
  for (;;) {
    // Empty elements of a list are ignored (RFC 9110, 5.6.1).
    text.skip(/[\t ,]*/y);
    if (!text.take('<')) return links;
    const target = text.read(/[^>]*/y);
    if (!text.take('>')) return links;
    links.push(linkOf(target, parameters(text)));
  }
}

const PLAIN_EDGE = /^[<> '"]+|[<> '"]+$/g;

/**
 * Finds a link as simple clients do, such as those of Python's requests: a header is cut at each comma before `<` and a
 * link at each semicolon, quoted or not; names and relations are compared by their letters; what is no parameter ends
 * the link; and a later link takes the place of an earlier one.
 */
export function plainLink(header: string, rel: string): Pick<Link, 'target' | 'attributes'> | undefined {
  const links = header.replace(/^[ '"]+|[ '"]+$/g, '').split(/, *</);
  const read = links.map((link) => {
    const [target = '', ...parts] = link.split(';');
    const pairs = parts.map((part) => part.split('='));
    const end = pairs.findIndex(({ length }) => length !== 2);
    const known = end === -1 ? pairs : pairs.slice(0, end);
    const attributes = known.map((pair) => pair.map((text) => text.replaceAll(/^[ '"]+|[ '"]+$/g, '')));
    return {
      target: target.replaceAll(PLAIN_EDGE, ''),
      attributes: new Map(attributes.map(([name = '', value = '']) => [name, value])),
    };
  });
  return read.findLast(({ attributes }) => attributes.get('rel') === rel);
}

/** Reads parameters up to the comma that ends the link, or to the first text that is no parameter. */
function parameters(text: Scan): Map<string, string> {
  const found = new Map<string, string>();
  for (;;) {
    text.skip(WHITE);
    if (!text.take(';')) return found;
    text.skip(WHITE);
    const name = text.read(/[^\t =;,]*/y).toLowerCase();
    text.skip(WHITE);
    let value = '';
    if (text.take('=')) {
      text.skip(WHITE);
      value = text.take('"') ? quoted(text) : unquoted(text);
    }
    // Only the first of a name counts (RFC 8288, 3.3).
    if (name !== '' && !found.has(name)) found.set(name, value);
  }
}

/** Reads the rest of a quoted string; a missing end quote ends with the text. */
function quoted(text: Scan): string {
  const inner = text.read(/(?:[^"\\]|\\[^]|\\$)*/y);
  text.take('"');
  return inner.replace(/\\([^])/g, '$1');
}

/** Reads an unquoted value. Single quotes are none in the standard; some APIs write them. */
function unquoted(text: Scan): string {
  return text
    .read(/[^;,]*/y)
    .trimEnd()
    .replace(/^'(.*)'$/, '$1');
}

function linkOf(target: string, found: ReadonlyMap<string, string>): Link {
  const rels = (found.get('rel') ?? '')
    .toLowerCase()
    .split(/[\t ]+/)
    .filter(Boolean);
  const anchor = found.get('anchor');
  return { target, rels, attributes: found, ...(anchor === undefined ? {} : { anchor }) };
}

const WHITE = /[\t ]*/y;

class Scan {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  take(char: string): boolean {
    if (this.#text.charAt(this.#at) !== char) return false;
    this.#at++;
    return true;
  }

  /** @param pattern sticky */
  read(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  skip(pattern: RegExp): void {
    this.read(pattern);
  }
}
