/**
 * `Content-Disposition` for a download under that name, in ASCII as headers must be (RFC 6266, RFC 8187): names in
 * other letters go into `filename*`, and `filename` has `_` in their place. Of a name longer than file systems take,
 * the end is given: clients refuse headers beyond some kilobytes.
 */
export function attachmentOf(fileName: string): string {
  const name = fileName.slice(-MAX_LENGTH).toWellFormed();
  const plain = name.replaceAll(/[^ !#-[\]-~]/gu, '_');
  const extended = plain === name ? '' : ` filename*=UTF-8''${encodeExtended(name)};`;
  return `attachment; filename="${plain}";${extended}`;
}

const MAX_LENGTH = 255;

function encodeExtended(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
