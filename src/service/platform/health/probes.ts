import type { Readiness, UnreadyReason } from './readiness.ts';
import type { Exposition } from './prometheus.ts';

/** Endpoint for operators of the service, not for clients. */
export interface Probe {
  readonly path: '/health' | '/metrics' | '/ready';
  readonly summary: string;
  /** True when it reveals the activity of others: on the address of the API it needs a master token. */
  readonly isPrivate: boolean;
  readonly answer: () => Promise<ProbeAnswer>;
}

export interface ProbeAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** @param exposition undefined where nothing is counted */
export function createProbes(readiness: Readiness, exposition: Exposition | undefined): readonly Probe[] {
  const probes: Probe[] = [
    {
      path: '/health',
      summary: 'Whether the process is alive; asks nothing else',
      isPrivate: false,
      answer: async () => await Promise.resolve(json(200, { status: 'ok' })),
    },
    {
      path: '/ready',
      summary: 'Whether requests should be sent here: 503 with the reasons when not',
      isPrivate: false,
      async answer() {
        const { reasons, degraded } = await readiness.condition();
        if (reasons.length > 0) return json(503, { status: 'unready', reasons: [...reasons, ...degraded] });
        return json(
          200,
          degraded.length === 0 ? { status: 'ready' } : { status: 'degraded', reasons: degraded },
        );
      },
    },
  ];
  if (exposition !== undefined)
    probes.push({
      path: '/metrics',
      summary: 'Metrics in the text format of Prometheus; for master tokens',
      isPrivate: true,
      answer: async () => ({
        status: 200,
        contentType: exposition.contentType,
        text: await exposition.text(),
      }),
    });
  return probes;
}

function json(
  status: number,
  body: { readonly status: string; readonly reasons?: readonly UnreadyReason[] },
): ProbeAnswer {
  return { status, contentType: 'application/json', text: JSON.stringify(body) };
}
