/** Statements of a text that end with a semicolon, and what follows the last one. */
export interface FoundStatements {
  readonly statements: readonly string[];
  readonly rest: string;
}

/** Texts, names, texts between dollars, and comments: a semicolon inside is part of them. One may not have ended yet. */
const WHOLE =
  /'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|(\$\w*\$)[\s\S]*?(?:\1|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|;/g;

/** Cuts a text into statements at its semicolons. */
export function statementsIn(text: string): FoundStatements {
  const statements: string[] = [];
  let begin = 0;
  for (const { 0: part, index } of text.matchAll(WHOLE)) {
    if (part !== ';') continue;
    const statement = text.slice(begin, index);
    if (statement.trim() !== '') statements.push(statement);
    begin = index + 1;
  }
  return { statements, rest: text.slice(begin) };
}
