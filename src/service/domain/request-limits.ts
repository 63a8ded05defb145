/** Largest body that is read into memory, in bytes: a configuration and a state of 4 MB each, URL-encoded. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;
