import type { Problem } from '../engine/config/index.ts';

/** One problem as one line: `config.json:12:7 error parameters.api.baseUrl: what is wrong. What to do.` */
export function describeProblem(problem: Problem, file: string): string {
  const { line, column, severity, path } = problem;
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  return `${place} ${severity}${path === '' ? '' : ` ${path}`}: ${problemText(problem)}`;
}

/** The message, and what to do about it. */
export function problemText({ message, hint }: Problem): string {
  if (hint === undefined) return message;
  return `${message}${/[.!?:]$/.test(message) ? '' : '.'} ${hint}`;
}
