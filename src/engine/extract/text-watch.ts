import { joinedRemarks, type TextRemarks } from '../formats/index.ts';
import { shownText } from '../../lib/shown-text.ts';

/** Remarks on the encoding of the answers of one job, told once for all of its pages. */
export class TextWatch {
  #remarks: TextRemarks | undefined;
  /** Pages with bytes that are no characters. */
  #pages = 0;
  /** The first of them. */
  #page = 0;

  see(remarks: TextRemarks | undefined, page: number): void {
    if (remarks === undefined) return;
    this.#remarks = joinedRemarks(this.#remarks, remarks);
    if (remarks.invalid === undefined) return;
    if (this.#pages++ === 0) this.#page = page;
  }

  /** Returns one sentence for each kind of remark. */
  warnings(): string[] {
    const { unknown, contradicted, invalid } = this.#remarks ?? {};
    const told: string[] = [];
    if (unknown !== undefined)
      told.push(
        `Content-Type names the charset “${shownText(unknown.slice(0, 60))}”, which is not known: the answers are read as UTF-8`,
      );
    if (contradicted !== undefined)
      told.push(
        `Content-Type names the charset “${shownText(contradicted)}”, and the answers are UTF-8: they are read as that`,
      );
    if (invalid !== undefined) {
      const { encoding, count, line, column } = invalid;
      const pages = this.#pages === 1 ? 'an answer' : `${this.#pages} answers`;
      const what =
        encoding === 'UTF-8'
          ? `${count === 1 ? '1 byte' : `${count} bytes`} of ${pages} ${count === 1 ? 'is' : 'are'} not UTF-8 and left out`
          : `${count === 1 ? '1 place' : `${count} places`} of ${pages} ${count === 1 ? 'is' : 'are'} not ${encoding} and became U+FFFD`;
      told.push(`${what}: the first is on page ${this.#page}, line ${line}, column ${column}`);
    }
    return told;
  }
}
