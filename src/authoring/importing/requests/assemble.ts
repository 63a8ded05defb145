import type { Imported, SettingReport, StreamReport } from '../report.ts';

type Node = Readonly<Record<string, unknown>>;

/** A stream of a tool whose streams are single requests. */
export interface ImportedRequest {
  readonly name: string;
  /** Absent when nothing of it could be taken. */
  readonly job?: Node;
  readonly reasons: StreamReport['reasons'];
  readonly columns: readonly string[];
  readonly notes: readonly string[];
}

export interface RequestsSource {
  /** Name of the file, for the report. */
  readonly source: string;
  readonly name: string;
  readonly api: Node;
  /** Values below `parameters.config.settings`; a secret has a `#` in front of its name. */
  readonly settings: Node;
  readonly open: readonly SettingReport[];
  readonly requests: readonly ImportedRequest[];
  readonly notes: readonly string[];
}

/** Makes a configuration with a row for each request. */
export function assembleRequests({
  source,
  name,
  api,
  settings,
  open,
  requests,
  notes,
}: RequestsSource): Imported {
  const ids = new Set<string>();
  const named = requests.map((request) => ({ request, id: freeId(request.name, ids) }));
  const rows = named.flatMap(({ request: { name: title, job, reasons }, id }) =>
    job === undefined
      ? []
      : [
          {
            id,
            name: title,
            ...(reasons.length > 0 ? { isDisabled: true } : {}),
            configuration: {
              parameters: {
                config: {
                  ...(job['incremental'] === undefined ? {} : { incrementalOutput: true }),
                  jobs: [{ id, dataType: id, ...job }],
                },
              },
            },
          },
        ],
  );
  return {
    configuration: {
      name,
      configuration: {
        parameters: {
          api,
          config: {
            outputBucket: safeId(name),
            ...(Object.keys(settings).length === 0 ? {} : { settings }),
          },
        },
      },
      rows,
    },
    report: {
      source,
      streams: named.map(({ request: { job, name: stream, reasons, columns, notes: about }, id }) => ({
        stream,
        outcome:
          reasons.length > 0 || job === undefined
            ? 'not'
            : columns.length > 0
              ? 'equal rows, other columns'
              : 'exact',
        ...(job === undefined ? {} : { row: id }),
        columns,
        reasons,
        notes: about,
      })),
      settings: open,
      notes,
    },
  };
}

function freeId(name: string, ids: Set<string>): string {
  const id = safeId(name);
  let free = id;
  for (let number = 2; ids.has(free); number++) free = `${id}-${number}`;
  ids.add(free);
  return free;
}

function safeId(name: string): string {
  const id = name.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '');
  return id === '' ? 'rows' : id;
}

/** Secrets of an import: those that a variable gives come from the environment in a run. */
export class RequestSecrets {
  readonly values: Record<string, unknown> = {};
  readonly open: SettingReport[] = [];
  readonly #given: Node;

  /** @param given values by the name of the setting, of `--settings` */
  constructor(given: Node = {}) {
    this.#given = given;
  }

  /** Returns a reference to a secret, with its value where it is known. */
  take(name: string, title: string, value: unknown): Node {
    const key = `#${name}`;
    const given = this.#given[name] ?? this.#given[key] ?? value;
    const variable = typeof given === 'string' ? /^\$\{?([A-Z_]\w*)\}?$/i.exec(given)?.[1] : undefined;
    const isKnown = given !== undefined && given !== null && given !== '' && variable === undefined;
    const text = variable ?? name.replace(/[^A-Za-z0-9]+/g, '_').toUpperCase();
    this.values[key] = isKnown ? `${given as string | number}` : `$env:${text}`;
    if (!isKnown && !this.open.some((one) => one.key === `settings.${key}`))
      this.open.push({ key: `settings.${key}`, title, isRequired: true });
    return { attr: `settings.${key}` };
  }
}
