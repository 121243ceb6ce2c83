import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";
const order: readonly Theme[] = ["system", "light", "dark"];
const key = "harrier-theme";
const listeners = new Set<() => void>();

const chosen = (): Theme => order.find((theme) => theme === localStorage.getItem(key)) ?? "system";

/** Shows the theme that was chosen in this browser, or that of the system. */
export function applyTheme(): void {
  const theme = chosen();
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

/** The chosen theme, and a function that goes on to the next one. */
export function useTheme(): [Theme, () => void] {
  const theme = useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, chosen);
  const next = () => {
    localStorage.setItem(key, order[(order.indexOf(theme) + 1) % order.length] ?? "system");
    applyTheme();
    for (const listener of listeners) listener();
  };
  return [theme, next];
}
