import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Link } from '../route/link.tsx';
import { shownText } from '../../src/lib/shown-text.ts';
import { Text } from './values.tsx';
import './page.css';

export interface PageProps {
  readonly title: string;
  /** The way here, without the page itself. */
  readonly crumbs?: readonly { readonly to: string; readonly text: string }[];
  /** One sentence under the title. */
  readonly about?: ComponentChildren;
  /** Buttons. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Frames every view: the document's title, the breadcrumbs, the heading and its buttons. */
export function Page({ title, crumbs = [], about, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${shownText(title)} – Generic extractor`;
  }, [title]);
  return (
    <div class="page">
      <div class="page-head">
        {crumbs.length > 0 && (
          <nav aria-label="Breadcrumbs">
            <ol class="crumbs">
              {crumbs.map(({ to, text }) => (
                <li key={to}>
                  <Link to={to}>
                    <Text>{text}</Text>
                  </Link>
                </li>
              ))}
            </ol>
          </nav>
        )}
        <div class="spread">
          <h1>
            <Text>{title}</Text>
          </h1>
          {actions !== undefined && <div class="row">{actions}</div>}
        </div>
        {about !== undefined && <p class="muted">{about}</p>}
      </div>
      {children}
    </div>
  );
}
