import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";

const goesTo = { o: "/", d: "/devices", r: "/rollouts", s: "/software" } as const;

/** After `g` the second key is waited for so long, in milliseconds. */
const secondKeyMs = 1_200;

const isTyping = (target: EventTarget | null) =>
  target instanceof Element && target.closest("input,textarea,select,[contenteditable]") !== null;

/** Listens to the keys of all pages. In text fields only Ctrl K works. */
export function useKeys({ palette, help }: { palette: () => void; help: () => void }): void {
  const navigate = useNavigate();
  useEffect(() => {
    const ending = new AbortController();
    let goneAt = 0;
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        return palette();
      }
      if (
        isTyping(event.target) ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        document.querySelector("[role=dialog],[role=alertdialog]")
      )
        return;
      const place = goesTo[event.key as keyof typeof goesTo];
      if (event.timeStamp - goneAt < secondKeyMs && place !== undefined) {
        goneAt = 0;
        event.preventDefault();
        void navigate({ to: place as "/" });
      } else if (event.key === "g") goneAt = event.timeStamp;
      else if (event.key === "?") help();
      else if (event.key === "/") {
        event.preventDefault();
        document.querySelector<HTMLElement>("[data-filter]")?.focus();
      }
    };
    document.addEventListener("keydown", onKey, { signal: ending.signal });
    return () => ending.abort();
  }, [navigate, palette, help]);
}
