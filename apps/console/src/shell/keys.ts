import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { shell as t } from "../text/en.ts";

/** The keys of all pages, as the help shows them; those of grids are in ui/grid.tsx. */
export const keyTable = [
  { keys: ["Ctrl", "K"], does: t.keyNames.palette },
  { keys: ["/"], does: t.keyNames.filter },
  { keys: ["g", "o"], does: t.keyNames.overview },
  { keys: ["g", "d"], does: t.keyNames.devices },
  { keys: ["g", "r"], does: t.keyNames.rollouts },
  { keys: ["g", "s"], does: t.keyNames.software },
  { keys: ["j", "k"], does: t.keyNames.rows },
  { keys: ["Enter"], does: t.keyNames.open },
  { keys: ["x"], does: t.keyNames.choose },
  { keys: ["?"], does: t.keyNames.help },
  { keys: ["Esc"], does: t.keyNames.close },
] as const;

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
