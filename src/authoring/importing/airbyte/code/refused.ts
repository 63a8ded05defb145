/** Code of Python that is not understood, with its file and line. */
export class CodeRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CodeRefused';
  }
}

/** The end of code in an error of its own. */
export class Raised extends Error {
  constructor() {
    super('The code ends in an error.');
    this.name = 'Raised';
  }
}
