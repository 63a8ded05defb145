import type { Reason } from '../report.ts';
import { TemplateError } from './jinja/ast.ts';

/** Reasons, columns and notes for the report of one stream. */
export class Findings {
  readonly #reasons = new Map<string, Reason>();
  readonly #columns = new Set<string>();
  readonly #notes = new Set<string>();

  /** Something that makes other rows, or none. */
  not(path: string, message: string, template?: string): void {
    const key = `${message}\n${template ?? ''}`;
    if (!this.#reasons.has(key))
      this.#reasons.set(key, { path, message, ...(template === undefined ? {} : { template }) });
  }

  /** Something that changes columns alone. */
  column(text: string): void {
    this.#columns.add(text);
  }

  note(text: string): void {
    this.#notes.add(text);
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

  /** The same for what only makes columns. */
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

  get reasons(): readonly Reason[] {
    return [...this.#reasons.values()];
  }

  get columns(): readonly string[] {
    return [...this.#columns];
  }

  get notes(): readonly string[] {
    return [...this.#notes];
  }
}

function shown(template: unknown): string {
  return typeof template === 'string' ? template : JSON.stringify(template);
}
