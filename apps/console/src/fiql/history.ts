import { draftKey } from "../api/drafts.ts";

/** Whose filters they are, and of which page. */
export interface HistoryOf {
  readonly page: string;
  readonly owner: { readonly tenant: string; readonly username: string };
}

/** So many filters of a page are remembered. */
const most = 10;

/** Puts a filter before the others; it is there once. */
export const withNewest = (filters: readonly string[], newest: string): string[] =>
  [newest, ...filters.filter((one) => one !== newest)].slice(0, most);

const keyOf = ({ page, owner }: HistoryOf) => draftKey(`filters ${page}`, owner);

/** The filters that were applied last, the newest first. What is no list of texts, another version has left. */
export function lastFilters(of: HistoryOf): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(of)) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string").slice(0, most) : [];
  } catch {
    return [];
  }
}

/** Remembers a filter in this browser. A browser that keeps nothing forgets it. */
export function remember(of: HistoryOf, filter: string): void {
  try {
    localStorage.setItem(keyOf(of), JSON.stringify(withNewest(lastFilters(of), filter)));
  } catch {
    // The filter works all the same.
  }
}
