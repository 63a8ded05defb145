import { useState } from 'preact/hooks';
import { invalidate, wordsOf } from '../../data/query.ts';
import { Link } from '../../route/link.tsx';
import { at } from '../../route/router.ts';
import { Banner } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { plural, Text } from '../../ui/values.tsx';

/** Something that is done to many runs, one after the other: what one of them refuses stops no other. */
export interface Many {
  readonly isRunning: boolean;
  /** Runs to which it was done. */
  readonly done: ReadonlySet<string>;
  /** Runs to which it could not be done, with the reasons. */
  readonly failed: ReadonlyMap<string, unknown>;
  readonly to: (runs: readonly string[]) => Promise<void>;
}

/** @param did what was done to them, such as `started` */
export function useMany(work: (run: string) => Promise<unknown>, did: string): Many {
  const [isRunning, setRunning] = useState(false);
  const [done, setDone] = useState<ReadonlySet<string>>(new Set());
  const [failed, setFailed] = useState<ReadonlyMap<string, unknown>>(new Map());
  return {
    isRunning,
    done,
    failed,
    async to(runs) {
      setRunning(true);
      const [well, badly] = [new Set(done), new Map(failed)];
      for (const run of runs)
        try {
          await work(run);
          well.add(run);
          badly.delete(run);
        } catch (error) {
          badly.set(run, error);
        }
      setDone(well);
      setFailed(badly);
      setRunning(false);
      if (well.size > done.size) toast(`${plural(well.size - done.size, 'run')} ${did}`);
      await invalidate('runs');
    },
  };
}

/** Lists the runs to which something could not be done, each with its reason. */
export function NotDone({ runs, title }: { readonly runs: Many['failed']; readonly title: string }) {
  if (runs.size === 0) return null;
  return (
    <Banner kind="bad">
      <p>{title}</p>
      <ul>
        {[...runs].map(([run, error]) => (
          <li key={run}>
            <Link to={at`/runs/${run}`}>Run {run}</Link>: <Text>{wordsOf(error).message}</Text>
          </li>
        ))}
      </ul>
    </Banner>
  );
}
