type Given = Readonly<Record<string, unknown>>;

/** A text of the address of a page; numbers that look like numbers are texts too. */
export function text(given: Given, name: string): string | undefined {
  const value = given[name];
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The filter and the sort of a list. */
export const listSearch = (given: Given): { q?: string | undefined; sort?: string | undefined } => ({
  q: text(given, "q"),
  sort: text(given, "sort"),
});

/** The open tab of a page. */
export const tabSearch = (given: Given): { tab?: string | undefined } => ({ tab: text(given, "tab") });

/** The columns of a list. */
export const colsSearch = (given: Given): { cols?: string | undefined } => ({ cols: text(given, "cols") });
