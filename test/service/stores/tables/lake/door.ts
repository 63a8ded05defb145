import { openPassage, type Passage } from '../../../../support/passage.ts';

/** An address of PostgreSQL behind which it goes away when it is told to, and is there again at once. */
export interface Door extends Pick<Passage, 'stop' | 'url'> {
  /** Requests until now. */
  readonly requests: number;
  /**
   * Cuts all connections at the n-th request from now on.
   *
   * @param when that request has not come to the database, or only its answer is lost
   * @returns whether it has come to that
   */
  cut(n: number, when: 'answered' | 'asked'): { readonly isCut: boolean };
  /** Loses the answer to the next COMMIT that the database makes. */
  loseCommit(): { readonly isCut: boolean };
}

/** @param url of a server without TLS */
export async function openDoor(url: string): Promise<Door> {
  let requests = 0;
  let plan = { left: 0, of: '', when: 'asked', isCut: false };
  const passage = await openPassage(url, () => {
    let isLost = false;
    return {
      asked(chunk, pass) {
        requests++;
        if (plan.left > 0 && chunk.includes(plan.of) && --plan.left === 0) {
          plan.isCut = true;
          if (plan.when === 'asked') return passage.cut();
          isLost = true;
        }
        pass();
      },
      answered(_chunk, pass) {
        if (isLost) passage.cut();
        else pass();
      },
    };
  });
  return {
    url: passage.url,
    get requests() {
      return requests;
    },
    cut(n, when) {
      plan = { left: n, of: '', when, isCut: false };
      return plan;
    },
    loseCommit() {
      plan = { left: 1, of: 'COMMIT', when: 'answered', isCut: false };
      return plan;
    },
    stop: () => passage.stop(),
  };
}
