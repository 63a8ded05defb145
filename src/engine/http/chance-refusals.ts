/** Answers over which the share of refusals is looked at, with the share from which they are no chance. */
const SHARES = [
  { over: 20, most: 0.25 },
  { over: 100, most: 0.1 },
];
/** Refusals without an answer between them that are no chance. */
const IN_A_ROW = 3;

/** A request, as far as it matters beside others. */
interface Numbered {
  /** Its number, from 1. */
  readonly number: number;
  /** Requests that were under way when it was sent, itself included. */
  readonly atOnce: number;
}

/**
 * Refusals that may say nothing of the number of requests and of their rate: few of all, and not several in a row. APIs,
 * and what is before them, refuse one now and then, whatever they are asked.
 */
export class ChanceRefusals {
  /** Shares of answers that were refusals, over as many as `SHARES` says. */
  #shares = SHARES.map(() => 0);
  /** Refusals since the last answer, and how many were at least under way at one of them. */
  #inARow = 0;
  #fewest = Infinity;
  /**
   * The first refusal that may be by chance, until a request that was sent later is taken: requests sent until then, and
   * whether one that was sent later was refused, too.
   */
  #doubt: { readonly at: number; isSecond: boolean } | undefined;

  take({ number }: Numbered): void {
    this.#count(0);
    this.#fewest = Infinity;
    if (number > (this.#doubt?.at ?? Infinity)) this.#doubt = undefined;
  }

  /**
   * Counts a refusal.
   *
   * @param sent requests sent so far
   * @param wasRefused the same request was refused before: it may be that one which is not liked
   * @returns whether it may be by chance; it is kept in mind then
   */
  refuse({ number, atOnce }: Numbered, sent: number, wasRefused = false): boolean {
    this.#fewest = Math.min(this.#fewest, atOnce);
    if (wasRefused && atOnce > 1) return true;
    this.#count(1);
    const isSecond = number > (this.#doubt?.at ?? Infinity);
    if (this.#inARow >= IN_A_ROW || (isSecond && this.#doubt?.isSecond === true)) return false;
    if (this.#areMany) return false;
    this.#doubt ??= { at: sent, isSecond: false };
    this.#doubt.isSecond ||= isSecond;
    return true;
  }

  /** Ends the doubt: it was no chance. @returns how many were at least under way at one of the last refusals in a row */
  settle(): number {
    this.#doubt = undefined;
    this.#shares = SHARES.map(() => 0);
    return this.#fewest;
  }

  get #areMany(): boolean {
    return this.#shares.some((share, i) => share > (SHARES[i]?.most ?? 0));
  }

  #count(refused: 0 | 1): void {
    this.#inARow = refused === 0 ? 0 : this.#inARow + 1;
    this.#shares = this.#shares.map((share, i) => share + (refused - share) / (SHARES[i]?.over ?? 1));
  }
}
