/** What is written into a configuration: JSON. */
export type Out = string | number | boolean | null | readonly Out[] | { readonly [key: string]: Out };
