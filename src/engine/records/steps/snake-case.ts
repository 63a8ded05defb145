/** `userId`, `User-ID` and `HTTPServer` as `user_id`, `user_id` and `http_server`. A sign at the beginning stays. */
export function snakeCase(key: string): string {
  const words = key
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1_$2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .toLowerCase();
  return words.replace(/(?<=.)_$/u, '');
}
