import type { ComponentChildren } from 'preact';
import { Link } from '../route/link.tsx';
import { Icon, type IconName } from './icon.tsx';
import './button.css';

type Kind = 'danger' | 'default' | 'plain' | 'primary';

export interface ButtonProps {
  readonly children: ComponentChildren;
  readonly kind?: Kind;
  readonly icon?: IconName;
  readonly type?: 'button' | 'submit';
  readonly isDisabled?: boolean;
  /** Shows that it is at work, and takes no further press. */
  readonly isBusy?: boolean;
  readonly onPress?: (event: MouseEvent) => void;
  readonly title?: string;
  readonly hasPopup?: boolean;
  readonly isExpanded?: boolean;
}

export function Button({
  kind = 'default',
  icon,
  type = 'button',
  isDisabled,
  isBusy,
  ...rest
}: ButtonProps) {
  const { children, onPress, title, hasPopup, isExpanded } = rest;
  return (
    <button
      type={type}
      class={classOf(kind)}
      title={title}
      disabled={isDisabled === true}
      aria-disabled={isBusy === true ? 'true' : undefined}
      aria-haspopup={hasPopup === true ? 'menu' : undefined}
      aria-expanded={isExpanded}
      onClick={(event) => {
        if (isBusy === true) event.preventDefault();
        else onPress?.(event);
      }}
    >
      {isBusy === true ? (
        <span class="button-spinner" aria-hidden="true" />
      ) : (
        icon && <Icon name={icon} size={16} />
      )}
      <span>{children}</span>
    </button>
  );
}

export interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon'> {
  readonly icon: IconName;
  /** Description of the action: a tooltip, and the name for screen readers. */
  readonly label: string;
}

export function IconButton({
  icon,
  label,
  kind = 'plain',
  isDisabled,
  onPress,
  hasPopup,
  isExpanded,
}: IconButtonProps) {
  return (
    <button
      type="button"
      class={`${classOf(kind)} button-icon`}
      aria-label={label}
      title={label}
      disabled={isDisabled === true}
      aria-haspopup={hasPopup === true ? 'menu' : undefined}
      aria-expanded={isExpanded}
      onClick={onPress}
    >
      <Icon name={icon} />
    </button>
  );
}

/** Shows a link that looks like a button: it navigates, and does nothing else. */
export function ButtonLink({
  to,
  kind = 'default',
  icon,
  children,
}: {
  readonly to: string;
  readonly kind?: Kind;
  readonly icon?: IconName;
  readonly children: ComponentChildren;
}) {
  return (
    <Link to={to} class={classOf(kind)}>
      {icon && <Icon name={icon} size={16} />}
      <span>{children}</span>
    </Link>
  );
}

/** Downloads a file of the service by the browser. */
export function DownloadLink({
  href,
  children,
  kind = 'default',
}: {
  /** Within the service: the session goes along. */
  readonly href: string;
  readonly children: ComponentChildren;
  readonly kind?: Kind;
}) {
  return (
    <a href={href} class={classOf(kind)} download>
      <Icon name="download" size={16} />
      <span>{children}</span>
    </a>
  );
}

function classOf(kind: Kind): string {
  return kind === 'default' ? 'button' : `button button-${kind}`;
}
