/** The job has been given to another worker meanwhile: nothing of it may be written. */
export class LeaseLost extends Error {}

/** The worker stops; another one continues the job. */
export class Released extends Error {}

/** Somebody asked for the end of the job. */
export class Cancelled extends Error {
  readonly code = 'storage.jobs.cancelled';

  constructor() {
    super('The job was cancelled.');
  }
}

export class Interrupted extends Error {
  readonly code = 'storage.jobs.interrupted';

  constructor(attempts: number) {
    super(`The job was interrupted ${attempts} times and is given up. Start it again.`);
  }
}
