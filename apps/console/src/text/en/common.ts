export const states = {
  loading: "Loading",
  failed: "This could not be loaded",
  forbidden: "You may not see this",
  notFound: "Not found",
  retry: "Try again",
  request: (id: string) => `request ${id}`,
  copyForSupport: "Copy for support",
  missing: (permission: string) => `Needs the permission ${permission}, which a user administrator can give you`,
  nothingMatches: "Nothing matches",
  moreThan: (total: string) => `more than ${total}`,
  noneOf: (total: string) => `0 of ${total} match this filter.`,
  noAnswer: "The server does not answer.",
  offline: "This browser has no network.",
  asOf: (time: string) => `As of ${time}.`,
  asking: "It is being asked for again.",
  clearFilter: "Clear the filter",
};

export const copying = { copied: "Copied", cannotCopy: "The browser did not let the console copy" };

export const dialogs = {
  back: "Cancel",
  asked: "Asked …",
  typeToConfirm: (text: string) => `Type ${text} to confirm`,
  typeFirst: (text: string) => `Type ${text} first`,
  changed: "Somebody has changed this meanwhile, so nothing was sent. Look at it as it is now; what you have typed stays.",
  readAgain: "Show it as it is now",
  readAnew: "This is how it is now, with what you have typed.",
  notRead: "It could not be read",
  reading: "It is being read",
};

export const grids = { chosen: "Chosen", choose: (name: string) => `Choose ${name}` };

export const nav = {
  main: "Main",
  side: "Navigation and account",
  skip: "Skip to the content",
  overview: "Overview",
  devices: "Devices",
  rollouts: "Rollouts",
  software: "Software",
  filters: "Auto-assignments",
  approvals: "Approvals",
  reports: "Reports",
  actions: "Updates",
  audit: "Audit",
  settings: "Settings",
  users: "Users",
  system: "System",
  fleet: "Fleet",
  manage: "Manage",
  me: "Your account",
};

export const shell = {
  signOut: "Sign out",
  theme: { system: "Theme: system", light: "Theme: light", dark: "Theme: dark" },
  live: "Live",
  polling: "Asks every few seconds",
  search: "Search",
  searchKey: "Ctrl K",
  searchHint: "Search or jump to …",
  nothingFound: "Nothing found",
  typeMore: "Names of devices, software, rollouts, filters, tags and settings",
  goTo: "Go to",
  menu: "Menu",
  keys: "Keys",
  keysTitle: "Keys of the console",
  close: "Close",
  lostTitle: "There is no such page",
  lostText: "The address is misspelt, or the page is gone.",
  home: "To the overview",
};
