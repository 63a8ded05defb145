/** Tells whether a text begins as those about errors do: `ERROR: query failed`. */
export function isErrorText(text: string): boolean {
  return ERROR_TEXT.test(text);
}

const ERROR_TEXT = /^(?:fatal |internal |server |query |export )?(?:error|exception|failure)\s?:\s/i;
