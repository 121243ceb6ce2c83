import type { ComponentProps, MouseEvent } from "react";
import style from "./button.module.css";

export interface ButtonProps extends ComponentProps<"button"> {
  readonly look?: "primary" | "danger" | "ghost" | undefined;
  readonly small?: boolean | undefined;
  /** Why it cannot be pressed now, e.g. the permission that is missing. It stays in the order of the Tab key, so that everybody can read that. */
  readonly why?: string | undefined;
}

/** The class of a link that looks like a button. */
export function buttonClass(look?: ButtonProps["look"], small = false): string {
  return [style["button"], look === undefined ? undefined : style[look], small ? style["small"] : undefined].filter(Boolean).join(" ");
}

/** A button. */
export function Button({ look, small, why, onClick, className, children, ...rest }: ButtonProps) {
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    if (why === undefined) return onClick?.(event);
    // A trigger of a dialog gets the event too.
    event.preventDefault();
    event.stopPropagation();
  };
  const label = rest["aria-label"];
  // A name of its own replaces what is within the button.
  const named = label === undefined ? {} : { "aria-label": `${label} ${why}` };
  const disabled = why === undefined ? {} : { "aria-disabled": true, "data-why": why, ...named };
  return (
    <button type="button" className={`${buttonClass(look, small)} ${className ?? ""}`} {...rest} {...disabled} onClick={press}>
      {children}
      {/* It is part of the name, so that a reader of screens says it once. */}
      {why !== undefined && <span className="hidden">{why}</span>}
    </button>
  );
}
