/**
 * Converts a key: `userId`, `User-ID` and `HTTPServer` to `user_id`, `user_id` and `http_server`. A leading character
 * that is no letter stays.
 */
export function snakeCase(key: string): string {
  const words = key
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1_$2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .toLowerCase();
  return words.replace(/(?<=.)_$/u, '');
}
