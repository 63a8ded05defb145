/** A file of a form. */
export interface FormFile {
  readonly name: string;
  readonly contentType: string | undefined;
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * The body of a form with one file under the name `data`, as it goes over the wire (RFC 7578). The fields come first, so
 * that they are known when the file arrives.
 *
 * @param onBytes told how much of the file was sent
 */
export async function* multipartBody(
  boundary: string,
  fields: readonly (readonly [name: string, value: string])[],
  file: FormFile,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void> {
  const head = fields.map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${value}\r\n`,
  );
  const type = file.contentType ?? 'application/octet-stream';
  const disposition = `form-data; name="data"; filename="${quoted(file.name)}"`;
  yield Buffer.from(
    `${head.join('')}--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${type}\r\n\r\n`,
  );
  let bytes = 0;
  for await (const chunk of file.content) {
    yield chunk;
    onBytes((bytes += chunk.length));
  }
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
}

/** The signs that would end a name, escaped as browsers do it. */
function quoted(text: string): string {
  return text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
