import { useSyncExternalStore } from "react";
import { problemOf } from "../api/client.ts";
import style from "./toast.module.css";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone?: "bad" | undefined;
}

const shownMs = 5_000;
let toasts: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Says something in passing; what must be read stands on the page. */
export function toast(text: string, tone?: "bad"): void {
  const id = ++last;
  set([...toasts.slice(-2), { id, text, tone }]);
  setTimeout(() => set(toasts.filter((one) => one.id !== id)), shownMs);
}

/** Says why a change was refused. */
export const toastFailure = (error: unknown): void => toast(problemOf(error).text, "bad");

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Where toasts are shown, and read out by screen readers. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className={style["region"]} role="status" aria-live="polite">
      {shown.map(({ id, text, tone }) => (
        <div key={id} className={style["toast"]} data-tone={tone}>
          {text}
        </div>
      ))}
    </div>
  );
}
