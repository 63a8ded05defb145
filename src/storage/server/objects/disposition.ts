/**
 * `Content-Disposition` for a download under that name, in ASCII as headers must be (RFC 6266, RFC 8187): names in
 * other letters go into `filename*`, and `filename` has `_` in their place.
 */
export function attachmentOf(name: string): string {
  const plain = name.replaceAll(/[^ !#-[\]-~]/gu, '_');
  const extended = plain === name ? '' : ` filename*=UTF-8''${encodeExtended(name.toWellFormed())};`;
  return `attachment; filename="${plain}";${extended}`;
}

function encodeExtended(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
