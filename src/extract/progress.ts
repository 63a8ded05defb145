/** What a run tells while it goes on; all of it is optional to listen to. */
export interface Progress {
  /** A page was written. */
  page?(event: PageEvent): void;
  /** A job, or a run of a child, ended. Who listens says so himself; the log then has it for debugging only. */
  end?(event: EndEvent): void;
}

export interface PageEvent {
  /** Name of the job. */
  readonly job: string;
  /** 0 for a job, 1 for its children, and so on. */
  readonly level: number;
  /** Page of this run of the job, from 1. */
  readonly page: number;
  readonly rows: number;
  /** Bytes of the body. */
  readonly bytes: number;
}

export interface EndEvent {
  readonly job: string;
  readonly level: number;
  readonly pages: number;
  /** Why it ended, in words. */
  readonly reason: string;
}
