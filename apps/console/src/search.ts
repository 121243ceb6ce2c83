type Given = Readonly<Record<string, unknown>>;

/** A text of the address of a page; numbers that look like numbers are texts too. */
export function text(given: Given, name: string): string | undefined {
  const value = given[name];
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Where a sign-in leads to, and why one at a provider came to nothing. */
export const loginSearch = (given: Given): { to?: string | undefined; error?: string | undefined } => ({
  to: text(given, "to"),
  error: text(given, "error"),
});

/** The filter and the sort of a list. */
export const listSearch = (given: Given): { q?: string | undefined; sort?: string | undefined } => ({
  q: text(given, "q"),
  sort: text(given, "sort"),
});

/** The open tab of a page. */
export const tabSearch = (given: Given): { tab?: string | undefined } => ({ tab: text(given, "tab") });

/** The columns of a list. */
export const colsSearch = (given: Given): { cols?: string | undefined } => ({ cols: text(given, "cols") });

/** The open tab of a rollout, the group whose devices it shows, and which of the silent ones. */
export const groupSearch = (given: Given): { tab?: string | undefined; group?: string | undefined; silence?: string | undefined } => ({
  tab: text(given, "tab"),
  group: text(given, "group"),
  silence: text(given, "silence"),
});

/** The step of the wizard, and what it begins with. */
export const wizardSearch = (given: Given): { step?: string | undefined; q?: string | undefined; set?: string | undefined } => ({
  step: text(given, "step"),
  q: text(given, "q"),
  set: text(given, "set"),
});

/** The tab, the filter and the sort of a page of lists. */
export const tabListSearch = (given: Given): { tab?: string | undefined; q?: string | undefined; sort?: string | undefined } => ({
  ...listSearch(given),
  tab: text(given, "tab"),
});

/** The first and the last month of the reports. */
export const monthsSearch = (given: Given): { from?: string | undefined; to?: string | undefined } => ({
  from: text(given, "from"),
  to: text(given, "to"),
});

/** The two sets that are compared, and whether only what differs is shown. */
export const compareSearch = (given: Given): { a?: string | undefined; b?: string | undefined; only?: string | undefined } => ({
  a: text(given, "a"),
  b: text(given, "b"),
  only: text(given, "only"),
});
