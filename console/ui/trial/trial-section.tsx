import { Button } from '../button.tsx';
import { ErrorBanner } from '../states.tsx';
import { Progress } from './progress.tsx';
import { TrialError } from './trial-error.tsx';
import { TrialView } from './trial-view.tsx';
import type { Trial } from './use-trial.ts';
import './trial.css';

/** Tries a configuration with a few pages, and shows what came: requests, rows and tables. */
export function TrialSection({
  trial,
  blocked,
}: {
  readonly trial: Trial;
  /** Why it cannot be tried yet. */
  readonly blocked: string | undefined;
}) {
  const { tried, isBusy, isAsking, steps, error } = trial;
  return (
    <section class="card trial stack" aria-labelledby="trial">
      <div class="spread">
        <h2 id="trial">Try it</h2>
        <Button
          icon="run"
          kind={tried === undefined ? 'primary' : 'default'}
          isBusy={isBusy && isAsking}
          isDisabled={blocked !== undefined}
          onPress={trial.start}
        >
          {tried === undefined ? 'Try with 3 pages' : 'Ask the API again'}
        </Button>
      </div>
      <p class="muted" role="status">
        {blocked ?? stateText(trial)}
      </p>
      {isBusy && isAsking && <Progress title="Asking the API" steps={steps} onStop={trial.stop} />}
      {error !== undefined && <ErrorBanner error={error} />}
      {tried?.error !== undefined && <TrialError error={tried.error} />}
      {tried !== undefined && <TrialView tried={tried} />}
    </section>
  );
}

function stateText({ tried, isBusy, isAsking }: Trial): string {
  if (tried === undefined) return 'Asks the API for 3 pages and shows the tables. Nothing is kept.';
  if (tried.recording === null)
    return 'The answers are too large to be kept: a change shows when the API is asked again.';
  if (isBusy && !isAsking) return 'Making the tables anew from what was recorded…';
  return 'Changes show at once, from the answers that were recorded. The API is not asked.';
}
