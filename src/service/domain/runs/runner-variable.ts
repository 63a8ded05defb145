/** Set for a process that a runner started, which then waits for its token and keys. */
export const RUNNER_VARIABLE = 'GEX_RUNNER';
