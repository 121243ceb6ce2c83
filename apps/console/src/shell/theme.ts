import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";
const order: readonly Theme[] = ["system", "light", "dark"];
/** Where this browser keeps its theme. */
export const themeKey = "harrier-theme";
const listeners = new Set<() => void>();

const chosen = (): Theme => order.find((theme) => theme === localStorage.getItem(themeKey)) ?? "system";

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
    localStorage.setItem(themeKey, order[(order.indexOf(theme) + 1) % order.length] ?? "system");
    applyTheme();
    for (const listener of listeners) listener();
  };
  return [theme, next];
}
