/**
 * Secrets that were given with an address, a command or a file. In the configuration each is the name of a variable of
 * the environment; its value goes over the wire and nowhere else.
 */
export class SecretStore {
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #values = new Map<string, string>();
  /** Variables that were named and are not set. */
  readonly #unset = new Set<string>();
  /** Secrets that look like references, and are none. */
  readonly #literal = new Set<string>();

  constructor(environment: Readonly<Record<string, string | undefined>>) {
    this.#environment = environment;
  }

  /**
   * Takes a secret, or the reference to one (`$NAME`, `${NAME}`, `$env:NAME`).
   *
   * @param name of the variable, where the environment has none with this very value
   * @returns what stands in the configuration in its place: `$env:NAME`
   */
  keep(given: string, name: string): string {
    const reference = this.#literal.has(given) ? null : REFERENCE.exec(given.trim());
    const referred = reference?.[1] ?? reference?.[2];
    if (referred !== undefined) {
      const value = this.#environment[referred];
      if (value === undefined || value === '') this.#unset.add(referred);
      else this.#values.set(referred, value);
      return `$env:${referred}`;
    }
    const known = [...this.#values].find(([, value]) => value === given)?.[0] ?? this.#nameOf(given);
    const free = known ?? this.#freeName(name);
    this.#values.set(free, given);
    return `$env:${free}`;
  }

  /**
   * Takes what a person has typed as the secret itself, where it looks like a variable and there is none of that name:
   * a password may begin with `$`.
   *
   * @returns whether it was so
   */
  takeTyped(given: string): boolean {
    const reference = REFERENCE.exec(given);
    const name = reference?.[1] ?? reference?.[2];
    if (name === undefined || (this.#environment[name] ?? '') !== '') return false;
    this.#literal.add(given);
    return true;
  }

  /** The environment with the secrets in it. */
  get environment(): Readonly<Record<string, string | undefined>> {
    return { ...this.#environment, ...Object.fromEntries(this.#values) };
  }

  get values(): readonly string[] {
    return [...this.#values.values()];
  }

  get unset(): readonly string[] {
    return [...this.#unset];
  }

  /** Variables that are to be set before the configuration is run. */
  get missing(): readonly string[] {
    return [...this.#values]
      .filter(([name, value]) => this.#environment[name] !== value)
      .map(([name]) => name);
  }

  /** Returns the name of the variable whose value the shell has put in its place. */
  #nameOf(value: string): string | undefined {
    if (value.length < 6) return undefined;
    return Object.keys(this.#environment).find(
      (name) => this.#environment[name] === value && /^[A-Z][A-Z0-9_]*$/.test(name) && name !== '_',
    );
  }

  #freeName(name: string): string {
    const base =
      name
        .toUpperCase()
        .replace(/[^A-Z0-9]+/g, '_')
        .replace(/^_|_$/g, '')
        .replace(/^X_/, '') || 'API_SECRET';
    for (let i = 1; ; i++) {
      const wanted = i === 1 ? base : `${base}_${i}`;
      if (!this.#values.has(wanted) && this.#environment[wanted] === undefined) return wanted;
    }
  }
}

const REFERENCE = /^\$(?:env:)?(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})$/;
