/** Puts a separator between each three digits of a whole number, which may have a sign. */
export function inThousands(digits: string, mark: string): string {
  const first = digits.startsWith('-') ? 1 : 0;
  const groups: string[] = [];
  for (let end = digits.length; end > first; end -= 3)
    groups.push(digits.slice(Math.max(first, end - 3), end));
  return digits.slice(0, first) + groups.toReversed().join(mark);
}
