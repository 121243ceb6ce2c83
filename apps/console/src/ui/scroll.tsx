import type { ReactNode } from "react";
import style from "./scroll.module.css";

/** A table that may be wider than its box, and scrolls in it. */
export function Scroll({ children }: { children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard
    <div className={style["scroll"]} tabIndex={0}>
      {children}
    </div>
  );
}
