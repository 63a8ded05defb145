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

  /** Returns the findings of a parent, which go to the stream below it but for its columns: it writes no table. */
  ofParent(): ManifestFindings {
    return new ParentFindings(this);
  }

  /** Adds something about the columns of a stream, and of those below it. */
  columnBelow(text: string): void {
    this.column(text);
  }

  /** Adds something that makes other rows, or none. */
  not(path: string, message: string, template?: string): void {
    this.addReason(`${message}\n${template ?? ''}`, path, message, template);
  }

  /** Does the work; what a template says that has no counterpart is a reason, and nothing is given. */
  attempt<T>(path: string, template: unknown, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      this.not(path, `No counterpart: ${error.message}`, shown(template));
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

class ParentFindings extends ManifestFindings {
  readonly #below: ManifestFindings;

  constructor(below: ManifestFindings) {
    super();
    this.#below = below;
  }

  override not(path: string, message: string, template?: string): void {
    this.#below.not(path, message, template);
  }

  override note(text: string): void {
    this.#below.note(text);
  }

  override moreRows(text: string): void {
    this.#below.moreRows(text);
  }

  override column(): void {}

  override columnBelow(text: string): void {
    this.#below.columnBelow(text);
  }
}

function shown(template: unknown): string {
  return typeof template === 'string' ? template : JSON.stringify(template);
}
