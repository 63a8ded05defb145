import { StreamFindings } from '../findings.ts';
import { TemplateError } from './jinja/ast.ts';

/** Findings about a stream of a manifest. */
export class ManifestFindings extends StreamFindings {
  #hasMoreRows = false;

  /** Rows are read that the other tool leaves out. */
  get hasMoreRows(): boolean {
    return this.#hasMoreRows;
  }

  /** Adds something that makes more rows, and leaves none out. */
  moreRows(text: string): void {
    this.note(text);
    this.#hasMoreRows = true;
  }

  /**
   * Returns the findings of a parent, which go to the stream below it but for its columns: it writes no table.
   *
   * @param at the place of the parent
   */
  ofParent(at: string): ParentFindings {
    return new ParentFindings(this, at);
  }

  /** Adds something that gives rows twice, of which the key of the table keeps one. */
  rowsTwice(text: string): void {
    this.column(text);
  }

  /** Adds something about the columns of a stream, and of those below it. */
  columnBelow(text: string): void {
    this.column(text);
  }

  /** Adds something that makes other rows, or none. */
  not(path: string, message: string, template?: string): void {
    this.addReason(`${message}\n${template ?? ''}`, path, message, template);
  }

  /**
   * Does the work; what a template says that has no counterpart is a reason, and nothing is given.
   *
   * @param template it, or a function that returns it where it is told
   */
  attempt<T>(path: string, template: unknown, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      this.not(path, `No counterpart: ${error.message}`, shown(isFunction(template) ? template() : template));
      return undefined;
    }
  }

  /** Runs work that only makes a column, and reports its failure. */
  attemptColumn<T>(name: string, template: unknown, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      this.column(
        `“${name}” is missing: ${error.message}${template === undefined ? '' : ` (${shown(template)})`}`,
      );
      return undefined;
    }
  }
}

/** Findings of a parent, which can be told again of the same one at another place. */
export class ParentFindings extends ManifestFindings {
  readonly #below: ManifestFindings;
  readonly #at: string;
  readonly #told: ((below: ManifestFindings, at: string) => void)[] = [];

  constructor(below: ManifestFindings, at: string) {
    super();
    this.#below = below;
    this.#at = at;
  }

  override not(path: string, message: string, template?: string): void {
    const isInside = path.startsWith(this.#at);
    const rest = isInside ? path.slice(this.#at.length) : path;
    this.#tell((below, at) => below.not(isInside ? at + rest : path, message, template));
  }

  override note(text: string): void {
    this.#tell((below) => below.note(text));
  }

  override moreRows(text: string): void {
    this.#tell((below) => below.moreRows(text));
  }

  override column(): void {}

  /** Makes more rows below: each of the rows is asked with. */
  override rowsTwice(text: string): void {
    this.moreRows(text);
  }

  override columnBelow(text: string): void {
    this.#tell((below) => below.columnBelow(text));
  }

  /** Tells all of it to another stream, below the same parent. */
  tellAgain(below: ManifestFindings, at: string): void {
    for (const tell of this.#told) tell(below, at);
  }

  #tell(tell: (below: ManifestFindings, at: string) => void): void {
    this.#told.push(tell);
    tell(this.#below, this.#at);
  }
}

function isFunction(value: unknown): value is () => unknown {
  return typeof value === 'function';
}

function shown(template: unknown): string {
  return typeof template === 'string' ? template : JSON.stringify(template);
}
