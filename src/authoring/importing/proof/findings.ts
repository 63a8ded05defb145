/** Findings about one stream while its sample is looked at. */
export class TrialFindings {
  readonly #differs = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #unseen = new Set<string>();

  /** Adds something that is not as it was claimed. */
  differs(text: string): void {
    this.#differs.add(text);
  }

  seen(text: string): void {
    this.#seen.add(text);
  }

  /** Adds something that the few requests could not show. */
  unseen(text: string): void {
    this.#unseen.add(text);
  }

  get all(): {
    readonly differs: readonly string[];
    readonly seen: readonly string[];
    readonly unseen: readonly string[];
  } {
    return { differs: [...this.#differs], seen: [...this.#seen], unseen: [...this.#unseen] };
  }
}
