/** Memory that is used for one thing after the other: what was in it before is lost. */
export class Scratch {
  #bytes: Uint8Array = new Uint8Array(0);

  /** Returns so many bytes of it, with whatever is in them. */
  of(size: number): Uint8Array {
    if (this.#bytes.length < size) this.#bytes = Buffer.allocUnsafeSlow(Math.ceil(1.25 * size));
    return this.#bytes.subarray(0, size);
  }
}
