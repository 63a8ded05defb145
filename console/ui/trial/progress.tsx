import { Button } from '../button.tsx';
import { Text } from '../values.tsx';

/** The last ones say enough while one waits. */
const SHOWN_STEPS = 8;

/** Shows the steps of a task that is in progress. */
export function Progress({
  title,
  steps,
  onStop,
}: {
  readonly title: string;
  readonly steps: readonly string[];
  readonly onStop: () => void;
}) {
  return (
    <section class="card trial-progress stack" aria-label={title}>
      <div class="spread">
        <h2 class="row">
          <span class="button-spinner" aria-hidden="true" />
          {title}
        </h2>
        <Button icon="close" onPress={onStop}>
          Stop
        </Button>
      </div>
      <ol class="trial-steps" aria-live="polite" aria-label="Steps">
        {steps.slice(-SHOWN_STEPS).map((step, i, shown) => (
          <li key={steps.length - shown.length + i} class={i === shown.length - 1 ? undefined : 'muted'}>
            <Text>{step}</Text>
          </li>
        ))}
      </ol>
    </section>
  );
}
