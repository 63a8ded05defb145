import type { ChildPreview, JobPreview, ShownRequest } from '../engine/extract/preview.ts';
import type { RowPreview } from '../runner/preview.ts';
import { plural } from './format.ts';

/**
 * Formats the first requests of a run as text:
 * ```
 * job users (parameters.config.jobs[0])
 *   GET https://api.example.com/users?page=1
 *   Accept: application/json
 *
 *   child orders (parameters.config.jobs[0].children[0]), for each row
 *     GET users/{id}/orders
 * ```
 */
export function describePreview(rows: readonly RowPreview[]): string {
  const parts = rows.flatMap(({ id, jobs }) => [
    ...(id === undefined ? [] : [`row ${id}`]),
    ...jobs.map(describeJob),
  ]);
  return parts.length === 0 ? 'All rows are disabled: there is nothing to run.' : parts.join('\n\n');
}

function describeJob({ job, at, login, request, windows, children }: JobPreview): string {
  const before =
    login === undefined
      ? []
      : ['login first:', ...describeRequest(login).map(indent), 'then, with what the login answers:'];
  return [
    `job ${job} (${at})${windowsText(windows)}`,
    ...[...before, ...(request === undefined ? [] : describeRequest(request))].map(indent),
    ...children.flatMap(describeChild).map(indent),
  ].join('\n');
}

function windowsText(windows: number | undefined): string {
  if (windows === undefined) return '';
  return windows === 0
    ? ', no window: there is nothing to ask for'
    : `, the first of ${plural(windows, 'window')}`;
}

function describeRequest({ method, url, headers, body }: ShownRequest): string[] {
  return [
    `${method} ${url}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : ['', ...body.split('\n')]),
  ];
}

function describeChild({ job, at, method, endpoint, params, children }: ChildPreview): string[] {
  return [
    '',
    `child ${job} (${at}), for each row`,
    indent(`${method} ${endpoint}`),
    ...(params === undefined ? [] : [indent(`parameters ${params}`)]),
    ...children.flatMap(describeChild).map(indent),
  ];
}

function indent(line: string): string {
  return line === '' ? '' : `  ${line}`;
}
