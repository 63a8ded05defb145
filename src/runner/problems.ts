import type { Problem } from '../engine/config/index.ts';

/** Formats a problem as one line: `config.json:12:7 error parameters.api.baseUrl: the problem. The hint.` */
export function describeProblem(problem: Problem, file: string): string {
  const { line, column, severity, path } = problem;
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  return `${place} ${severity}${path === '' ? '' : ` ${path}`}: ${problemText(problem)}`;
}

/** Joins the message and the hint. */
export function problemText({ message, hint }: Problem): string {
  if (hint === undefined) return message;
  return `${message}${/[.!?:]$/.test(message) ? '' : '.'} ${hint}`;
}
