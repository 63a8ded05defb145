import {
  entriesOf,
  getKey,
  isEmpty,
  isList,
  isObject,
  objectOf,
  withoutKey,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { asObject, kindOf } from '../../lib/read-settings.ts';
import { meantOr } from '../../lib/suggest.ts';
import { jobError } from './read-job.ts';

/** A definition at the top that is a child of other jobs. */
export interface Attached {
  readonly definition: AnyObject;
  /** JSON path of the definition. */
  readonly at: string;
}

interface Reference {
  readonly attached: Attached;
  /** JSON path of the entry of `parents`. */
  readonly at: string;
  /** JSON path of the job that took it; undefined as long as none did. */
  takenBy: string | undefined;
}

/**
 * Definitions that name their parents instead of standing below them: `"parents": ["posts", {"job": "photos",
 * "placeholders": {"id": "photo_id"}}]`. Each parent gets a child of its own, with the keys of its entry over those of
 * the definition.
 */
export class Attachments {
  readonly #byParent = new Map<string, Reference[]>();
  readonly #places = new Set<string>();
  readonly #names = new Set<string>();

  /** @param definitions those of the list at the top, by their JSON paths */
  constructor(definitions: Iterable<readonly [string, Json]>) {
    for (const [at, definition] of definitions) {
      const parents = isObject(definition) ? getKey(definition, 'parents') : undefined;
      if (!isObject(definition) || parents === undefined || isEmpty(parents)) continue;
      this.#places.add(at);
      for (const [key, entry] of entriesOf(asObject(isList(parents) ? parents : [parents]) ?? objectOf([])))
        this.#add(entry, withoutKey(definition, 'parents'), at, `${at}.parents[${key}]`);
    }
  }

  /** Tells whether a definition runs below others alone. */
  has(at: string): boolean {
    return this.#places.has(at);
  }

  /**
   * Returns the jobs that are attached to a job.
   *
   * @param name that of the job: its id, else its data type
   * @param above JSON paths of the jobs above it, and of itself
   * @throws {JobError} for a job below itself, and where several jobs have the name
   */
  below(name: string, at: string, above: readonly string[]): readonly Attached[] {
    this.#names.add(name);
    const references = this.#byParent.get(name) ?? [];
    return references.map((reference) => {
      const { attached, takenBy } = reference;
      if (above.includes(attached.at))
        throw jobError(
          reference.at,
          `The job “${name}” would be a parent of itself`,
          'Leave one of the two out of “parents”.',
        );
      if (takenBy !== undefined && takenBy !== at)
        throw jobError(
          reference.at,
          `Several jobs are called “${name}”: those at ${takenBy} and ${at}`,
          'Give the parent an “id” of its own.',
        );
      reference.takenBy = at;
      return attached;
    });
  }

  /** @throws {JobError} for a parent that there is not */
  finish(): void {
    for (const [name, references] of this.#byParent) {
      for (const { at, takenBy } of references) {
        if (takenBy !== undefined) continue;
        throw jobError(
          at,
          `There is no job “${name}” that runs`,
          meantOr(name, [...this.#names], 'A parent is named by its “id”, else by its “dataType”.'),
        );
      }
    }
  }

  #add(entry: Json, definition: AnyObject, definedAt: string, at: string): void {
    const over = isObject(entry) ? withoutKey(entry, 'job') : objectOf([]);
    const name = isObject(entry) ? getKey(entry, 'job') : entry;
    if (typeof name !== 'string' || name === '')
      throw jobError(
        at,
        `A parent is named by its “id”, and here is ${kindOf(isObject(entry) ? name : entry)}`,
        'Write "posts", or {"job": "posts", "placeholders": {"id": "post_id"}}.',
      );
    const attached = { definition: objectOf([...entriesOf(definition), ...entriesOf(over)]), at: definedAt };
    this.#byParent.set(name, [...(this.#byParent.get(name) ?? []), { attached, at, takenBy: undefined }]);
  }
}
