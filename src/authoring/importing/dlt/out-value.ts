/** What is written into a configuration: JSON. */
export type Out = string | number | boolean | null | readonly Out[] | { readonly [key: string]: Out };

/** A function of the configuration. */
export function call(name: string, ...args: readonly Out[]): Out {
  return { function: name, args };
}
