import type { ComponentChildren } from 'preact';
import { BASE, navigate } from './router.ts';

export interface LinkProps {
  /** Path of the console, such as `/runs`. */
  readonly to: string;
  readonly class?: string;
  readonly isCurrent?: boolean;
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** Links within the console; with Ctrl and the like, the browser opens the link as usual. */
export function Link({ to, isCurrent, children, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={BASE + to}
      aria-current={isCurrent === true ? 'page' : undefined}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        navigate(to);
      }}
    >
      {children}
    </a>
  );
}
