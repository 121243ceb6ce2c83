export const filterMenu = {
  open: "Filters",
  ready: "Ready-made",
  saved: "Saved",
  last: "Last used",
  none: "Filters that you apply are listed here.",
  notRead: (why: string) => `Saved filters cannot be shown now: ${why}`,
  save: "Save this filter",
  applyFirst: "Apply a filter first",
  wasSaved: (name: string) => `${name} was saved`,
};
