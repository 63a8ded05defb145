import { headerText } from '../s3/read-operations.ts';
import type { DescribedObject, ObjectWriteOptions } from '../store.ts';
import { noAttributes, type ObjectAttributes, type ObjectMeta } from './meta.ts';

/** Returns the stored attributes of an object; header values as they are sent. */
export function attributesOf(options: ObjectWriteOptions): ObjectAttributes {
  const { contentType, disposition, contentEncoding, contentLanguage, cacheControl, encrypted } = options;
  return {
    ...noAttributes,
    contentType: headerOf(contentType),
    contentDisposition: headerOf(disposition),
    contentEncoding: headerOf(contentEncoding),
    contentLanguage: headerOf(contentLanguage),
    cacheControl: headerOf(cacheControl),
    isEncrypted: encrypted,
    userMetadata: mapped(options.userMetadata ?? {}, headerText),
  };
}

export function described(meta: ObjectMeta): DescribedObject {
  const { bytes, etag, contentType, contentDisposition, contentEncoding, contentLanguage, cacheControl } =
    meta;
  return {
    bytes,
    etag,
    attributes: {
      contentType: textOf(contentType),
      disposition: textOf(contentDisposition),
      contentEncoding: textOf(contentEncoding),
      contentLanguage: textOf(contentLanguage),
      cacheControl: textOf(cacheControl),
      userMetadata: mapped(meta.userMetadata, headerValueText),
      encrypted: meta.isEncrypted,
    },
  };
}

const headerOf = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : headerText(text);

const textOf = (value: string | undefined): string | undefined =>
  value === undefined ? undefined : headerValueText(value);

/** The bytes of a header value as UTF-8. */
const headerValueText = (value: string): string => Buffer.from(value, 'latin1').toString();

function mapped(
  texts: Readonly<Record<string, string>>,
  change: (text: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, change(text)]));
}
