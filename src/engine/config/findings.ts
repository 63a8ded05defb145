import type { ConfigDocument } from './read-config.ts';
import { pathText, type KeyPath } from './path.ts';
import type { DocumentPosition } from './positions.ts';
import type { ConfigResource } from './resource.ts';

export type Severity = 'error' | 'warning';

/** Something to correct in a configuration. */
export interface Problem {
  readonly severity: Severity;
  /** JSON path in the document, `rows[0].configuration.parameters.api.baseUrl`. */
  readonly path: string;
  /** One or two plain sentences. */
  readonly message: string;
  /** Line of the value, from 1; for a missing key, that of the object around it. */
  readonly line?: number;
  readonly column?: number;
  /** The row it was found in. */
  readonly row?: string;
  readonly expected?: string;
  /** Actual value; never that of a secret. */
  readonly found?: string;
  /** The word that may have been meant. */
  readonly suggestion?: string;
  /** Advice in one sentence. */
  readonly hint?: string;
}

/** The run that a finding is about. */
export interface FoundIn {
  readonly id?: string | undefined;
}

export type Facts = { readonly [K in 'expected' | 'found' | 'suggestion' | 'hint']?: string | undefined };

/** Collects problems, each with its place in the document, once. */
export class ConfigFindings {
  readonly #document: ConfigDocument;
  readonly #resource: ConfigResource;
  readonly #strict: boolean;
  readonly #problems = new Map<string, Problem>();

  constructor(document: ConfigDocument, resource: ConfigResource, strict: boolean) {
    this.#document = document;
    this.#resource = resource;
    this.#strict = strict;
  }

  /** @param keys path in the merged configuration of the run */
  add(run: FoundIn, keys: KeyPath, severity: Severity, message: string, facts: Facts = {}): void {
    this.#put(this.#locate(run, keys), severity, message, facts, run.id, 'value');
  }

  /** Adds a problem with the name of a key. */
  addKey(
    run: FoundIn,
    keys: KeyPath,
    severity: Severity,
    message: string,
    suggestion: string | undefined,
  ): void {
    const text = suggestion === undefined ? message : `${message} Did you mean \`${suggestion}\`?`;
    this.#put(this.#locate(run, keys), severity, text, { suggestion }, run.id, 'key');
  }

  /** Adds an error, unless one is known at the same place, or around or inside it. */
  addUnlessKnown(run: FoundIn, keys: KeyPath, message: string, hint: string | undefined): void {
    const path = pathText(this.#locate(run, keys));
    const known = [...this.#problems.values()].some(
      (problem) =>
        problem.severity === 'error' && (isWithin(problem.path, path) || isWithin(path, problem.path)),
    );
    if (!known) this.add(run, keys, 'error', message, { hint });
  }

  /** @param keys path in the document itself */
  addInDocument(keys: KeyPath, severity: Severity, message: string): void {
    this.#put(keys, severity, message, {}, undefined, 'key');
  }

  addAt(position: DocumentPosition, keys: KeyPath, severity: Severity, message: string): void {
    this.#keep({ severity: this.#graded(severity), path: pathText(keys), message, ...position });
  }

  /** Returns the problems in the order of the text; errors first if two are at one place. */
  sorted(): readonly Problem[] {
    return [...this.#problems.values()].sort(
      (a, b) =>
        (a.line ?? 0) - (b.line ?? 0) ||
        (a.column ?? 0) - (b.column ?? 0) ||
        a.severity.localeCompare(b.severity) ||
        a.path.localeCompare(b.path),
    );
  }

  /** Returns the path in the document: in the row if it has the longer part of it, else in the root. */
  #locate(run: FoundIn, keys: KeyPath): KeyPath {
    if (this.#resource.form === 'component') return keys;
    const root = ['configuration', ...keys];
    const row = this.#resource.rows.find(({ id }) => id === run.id);
    if (row === undefined) return root;
    const own = ['rows', String(row.index), 'configuration', ...keys];
    const ownDepth = this.#depth(own) - 3;
    return ownDepth > 0 && ownDepth >= this.#depth(root) - 1 ? own : root;
  }

  /** Returns the number of keys that exist. */
  #depth(keys: KeyPath): number {
    const positions = this.#document.positions();
    for (let length = keys.length; length > 0; length--) {
      if (positions.at(keys.slice(0, length)) !== undefined) return length;
    }
    return 0;
  }

  #put(
    keys: KeyPath,
    severity: Severity,
    message: string,
    facts: Facts,
    row: string | undefined,
    at: 'key' | 'value',
  ): void {
    const place = this.#document.positions().nearest(keys);
    const { line, column } = at === 'key' ? (place.key ?? place.value) : place.value;
    const given = Object.entries(facts).filter(([, value]) => value !== undefined);
    this.#keep({
      severity: this.#graded(severity),
      path: pathText(keys),
      message,
      line,
      column,
      ...(row === undefined ? {} : { row }),
      ...Object.fromEntries(given),
    });
  }

  #keep(problem: Problem): void {
    const id = JSON.stringify([problem.path, problem.message]);
    if (!this.#problems.has(id)) this.#problems.set(id, problem);
  }

  #graded(severity: Severity): Severity {
    return this.#strict ? 'error' : severity;
  }
}

function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`);
}
