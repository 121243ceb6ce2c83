import { type FocusEvent, type KeyboardEvent, type ReactNode, useRef, useState } from "react";
import { buttonClass } from "./button.tsx";
import style from "./drop.module.css";

interface DropProps {
  readonly label: ReactNode;
  /** What is in the box; a function gets what closes it. */
  readonly children: ReactNode | ((close: () => void) => ReactNode);
}

/** A button that opens a small box beside it; it closes with Escape, and when the focus goes elsewhere. */
export function Drop({ label, children }: DropProps) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDetailsElement>(null);
  const close = () => {
    setOpen(false);
    box.current?.querySelector("summary")?.focus();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !open) return;
    event.stopPropagation();
    close();
  };
  const onBlur = ({ relatedTarget, currentTarget }: FocusEvent) => {
    if (!currentTarget.contains(relatedTarget)) setOpen(false);
  };
  return (
    <details
      ref={box}
      className={style["drop"]}
      open={open}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      onKeyDown={onKey}
      onBlur={onBlur}
    >
      <summary className={buttonClass()}>{label}</summary>
      {/* A press on what is no control keeps the focus in the box. */}
      <div className={style["box"]} tabIndex={-1}>
        {open && (typeof children === "function" ? children(close) : children)}
      </div>
    </details>
  );
}
