import { parser } from '@lezer/python';
import { RunError } from '../../../lib/errors.ts';

/** A node of the syntax tree of a Python file. */
export type PythonNode = Tree['topNode'];
type Tree = ReturnType<typeof parser.parse>;

/** A part of the file, by the offsets of its first character and of the one behind its last. */
export interface PythonSpan {
  readonly from: number;
  readonly to: number;
}

const STRICT = parser.configure({ strict: true });

/** Names of nodes other than words and signs of the language, and that of a mistake. */
const KIND = /^[A-Z⚠]/;

/** Longest file with mistakes that is read past them: to go on after a mistake takes long for each one. */
const MAX_BROKEN_LENGTH = 100_000;

const NOT_PYTHON = 'The syntax is not valid Python.';

/** The syntax tree of a Python file, and its text. */
export class PythonFile {
  readonly #source: string;
  readonly #file: string;
  readonly #tree: Tree;
  #byName: ReadonlyMap<string, readonly PythonNode[]> | undefined;
  readonly #lineStarts: readonly number[];

  /**
   * Parses a file. A mistake is passed over where it is no part of what is read then: the parser may not know newer
   * forms of the language.
   *
   * @throws {RunError} `import.invalid` for a text that does not end, a sign that is none of Python, and a long file
   *   with any mistake
   */
  constructor(source: string, file: string) {
    // as long as it is, for the places of all else
    this.#source = source.replace(/^\uFEFF/, ' ');
    this.#file = file;
    this.#lineStarts = [0, ...Array.from(source.matchAll(/\n/g), ({ index }) => index + 1)];
    this.#tree = this.#parse();
  }

  #parse(): Tree {
    // the parser does not know “1.”
    const source = this.#source.replaceAll(/(?<![\w.])(\d[\d_]*)\.(?![\w.])/g, '$1 ');
    try {
      return STRICT.parse(source);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      const at = Number(/\d+$/.exec(error.message)?.[0] ?? 0);
      if (this.#source.length > MAX_BROKEN_LENGTH) throw this.#errorAt(at, NOT_PYTHON);
    }
    const tree = parser.parse(source);
    tree.iterate({
      enter: ({ type, node }) => {
        if (!type.isError) return;
        const text = node.parent;
        if (text?.name === 'String' || text?.name === 'FormatString')
          throw this.error(text, 'A text begins here and does not end.');
        if (/^[$?!`]/.test(this.#source.slice(node.from))) throw this.syntaxError(node);
      },
    });
    return tree;
  }

  /** Returns all nodes of a kind that is no word or sign of the language, in the order of the file. */
  nodes(name: string): readonly PythonNode[] {
    this.#byName ??= this.#nodesByName();
    return this.#byName.get(name) ?? [];
  }

  /** Returns the nodes of a kind that are a part of the file, or in it. */
  nodesIn(name: string, { from, to }: PythonSpan): readonly PythonNode[] {
    const all = this.nodes(name);
    let [first, high] = [0, all.length];
    while (first < high) {
      const middle = (first + high) >> 1;
      if ((all[middle]?.from ?? from) < from) first = middle + 1;
      else high = middle;
    }
    const found: PythonNode[] = [];
    for (let index = first; index < all.length; index++) {
      const node = all[index];
      if (node === undefined || node.from > to) break;
      if (node.to <= to) found.push(node);
    }
    return found;
  }

  #nodesByName(): ReadonlyMap<string, readonly PythonNode[]> {
    const found = new Map<string, PythonNode[]>();
    this.#tree.iterate({
      enter: (at) => {
        const { name } = at;
        // a node is made when it is asked for
        if (!KIND.test(name)) return;
        const same = found.get(name);
        if (same === undefined) found.set(name, [at.node]);
        else same.push(at.node);
      },
    });
    return found;
  }

  text({ from, to }: PythonSpan): string {
    return this.#source.slice(from, to);
  }

  /** Returns the text with its white space as single spaces. */
  oneLine(span: PythonSpan): string {
    return this.text(span).trim().replaceAll(/\s+/g, ' ');
  }

  /** Returns `a.b.c` for a name with attributes; undefined for any other expression. */
  path(node: PythonNode): string | undefined {
    const names: string[] = [];
    let at = node;
    while (
      at.name === 'MemberExpression' &&
      at.lastChild?.name === 'PropertyName' &&
      at.firstChild !== null
    ) {
      names.push(this.text(at.lastChild));
      at = at.firstChild;
    }
    if (at.name !== 'VariableName') return undefined;
    return [...names, this.text(at)].reverse().join('.');
  }

  /** Returns line and column of a place, from 1. */
  place(offset: number): { readonly line: number; readonly column: number } {
    let [low, high] = [0, this.#lineStarts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return { line: low, column: offset - (this.#lineStarts[low - 1] ?? 0) + 1 };
  }

  error(node: PythonNode, message: string): RunError {
    return this.#errorAt(node.from, message);
  }

  /** Creates the error of a node that the parser marks as a mistake. */
  syntaxError({ from }: PythonNode): RunError {
    const sign = /^[^\s\w]/.exec(this.#source.slice(from, from + 1))?.[0];
    if (sign !== undefined && '$?!`'.includes(sign))
      return this.#errorAt(from, `“${sign}” is no sign of Python.`);
    return this.#errorAt(from, NOT_PYTHON);
  }

  #errorAt(offset: number, message: string): RunError {
    return new RunError('import.invalid', message, {
      where: { file: this.#file, ...this.place(offset) },
      hint: 'Is it a file of Python 3? A source may be given as JSON, too.',
    });
  }
}
