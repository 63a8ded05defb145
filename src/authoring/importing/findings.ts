import type { ImportReason } from './report.ts';

/** Reasons, columns and notes for the report of one stream. */
export class StreamFindings {
  readonly #reasons = new Map<string, ImportReason>();
  readonly #columns = new Set<string>();
  readonly #notes = new Set<string>();

  /** Adds something that makes other rows, or none; the first reason of a key stays. */
  protected addReason(key: string, path: string, message: string, template: string | undefined): void {
    if (!this.#reasons.has(key))
      this.#reasons.set(key, { path, message, ...(template === undefined ? {} : { template }) });
  }

  /** Adds something that changes columns alone. */
  column(text: string): void {
    this.#columns.add(text);
  }

  note(text: string): void {
    this.#notes.add(text);
  }

  get reasons(): readonly ImportReason[] {
    return [...this.#reasons.values()];
  }

  get columns(): readonly string[] {
    return [...this.#columns];
  }

  get notes(): readonly string[] {
    return [...this.#notes];
  }
}
