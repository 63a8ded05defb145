import { currentSession, mayMakeBuckets, mayUse, mayWrite } from '../../data/session.ts';
import { NEW_SOURCES } from '../../data/sources.ts';
import { BASE } from '../../route/router.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { FileZone } from './file-zone.tsx';

/** Shows three ways to begin, when there is nothing yet. */
export function FirstSteps() {
  const { isMaster } = currentSession().token;
  return (
    <>
      <p class="muted">
        {isMaster
          ? 'Nothing is here yet. Begin in one of these ways.'
          : 'There is nothing that your token may see yet. Whoever has the master token can give it more.'}
      </p>
      <div class="start">
        {mayUse(NEW_SOURCES) && (
          <section class="card start-card">
            <Icon name="link" size={24} />
            <h2>A source from a link</h2>
            <p class="muted">
              Paste the address of an API, and see what it answers. Pages and tables are proposed.
            </p>
            <div>
              <ButtonLink to="/new" kind="primary" icon="plus">
                Begin with a link
              </ButtonLink>
            </div>
          </section>
        )}
        {(mayWrite() || mayMakeBuckets()) && (
          <section class="card start-card">
            <Icon name="upload" size={24} />
            <h2>A file</h2>
            <p class="muted">A CSV becomes a table that can be looked at, searched and exported.</p>
            <FileZone about="Drop it here." />
          </section>
        )}
        <section class="card start-card">
          <Icon name="token" size={24} />
          <h2>A program of yours</h2>
          <p class="muted">
            Give it a token of its own. It speaks the API that is described at{' '}
            <a href={`${BASE}/docs`}>the reference</a>.
          </p>
          <div>
            <ButtonLink to="/tokens" icon="token">
              See the tokens
            </ButtonLink>
          </div>
        </section>
      </div>
    </>
  );
}
