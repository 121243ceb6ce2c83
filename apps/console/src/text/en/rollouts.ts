import { count, plural } from "../../ui/format.ts";

/** Why a rollout that its last group has ended is no success; the status itself says that too many failed. */
export const exceededText = (limit: number | undefined): string => (limit === undefined ? "" : `more than ${limit} % failed`);

export const rollouts = {
  title: "Rollouts",
  new: "New rollout",
  filter: "Status",
  all: "All",
  columns: { name: "Rollout", status: "Status", progress: "Progress", devices: "Devices", failed: "Failed", started: "Started" },
  emptyTitle: "No rollouts yet",
  emptyText: "A rollout brings one distribution set to many devices, group by group, and pauses by itself when too many fail.",
  emptyCommand: "harrier rollout create 'os 1.0' --set os:1.0 -q 'controllerid==*' --groups 3",
  by: (name: string) => `by ${name}`,
  notStarted: "not started",
  totals: (done: number, total: number) => `${count(done)} of ${count(total)} installed`,
  name: "Name",
  find: "Find a rollout",
};

const reasonWords: Readonly<Record<string, string>> = {
  schedule: "by its schedule",
  success_pause: "its group reached the success threshold and waits for you",
  invalidation: "its distribution set was invalidated",
  quota: "a quota was reached",
};

/** Why a rollout has its status, in one sentence. */
export function reasonText(reason: string | undefined, actor: string, value: number | undefined, limit: number | undefined): string {
  if (reason === "error_threshold")
    return `too many failed: ${value === undefined ? "" : `${+value.toFixed(1)} %, `}the limit is ${limit ?? "?"} %`;
  if (reason === undefined || reason === "user") return actor === "system" ? "" : `by ${actor}`;
  return reasonWords[reason] ?? reason;
}

/** Sentences one after the other, without those that do not apply. */
const said = (...sentences: (string | false)[]) => sentences.filter((one) => one !== false).join(" ");

export const rollout = {
  groups: "Groups",
  tabs: {
    groups: "Groups",
    failures: "Failures",
    silent: "Silent",
    timeline: "Timeline",
    devices: "Devices",
    definition: "Definition",
  },
  tabList: "About the rollout",
  ofTotal: (done: number, total: number) => `${count(done)} of ${plural(total, "device", "devices")} done`,
  pace: (perMinute: string, left: string) => `${perMinute}/min · about ${left} left`,
  creating: "The devices are being chosen. A large fleet takes a moment.",
  readyNote: "Everything is in place. Nothing is sent to a device before it starts.",
  approvalNote: "Somebody who may approve rollouts has to look at it first.",
  lastError: (attempts: number) => `The server tries again by itself (${plural(attempts, "attempt", "attempts")} failed): `,
  success: (percent: string) => `next at ${percent} %`,
  error: (percent: string) => `pauses above ${percent} %`,
  groupBar: (name: string) => `Group ${name}`,
  noDevices: "no devices",
  pausesAfter: "pauses after it",
  dynamic: "grows",
  failed: (percent: string) => `${percent} % failed`,
  installed: (percent: string) => `${percent} % installed`,
  steps: {
    start: "Start",
    pause: "Pause",
    resume: "Resume",
    next: "Next group",
    stop: "Stop",
    approve: "Approve",
    deny: "Deny",
    retry: "Retry the failed",
    delete: "Delete",
  },
  ask: {
    start: "Start the rollout?",
    pause: "Pause the rollout?",
    resume: "Resume the rollout?",
    next: "Start the next group now?",
    stop: "Stop the rollout?",
    approve: "Approve the rollout?",
    deny: "Deny the rollout?",
    retry: "Retry the failed devices?",
    delete: "Delete the rollout?",
  },
  does: {
    start: (first: number | undefined, total: number) =>
      first === total
        ? `The update begins at once on ${plural(total, "device", "devices")}.`
        : `The first group ${first === undefined ? "" : `(${plural(first, "device", "devices")}) `}begins at once. The whole rollout has ${plural(total, "device", "devices")}.`,
    pause: (waiting: number, running: number) =>
      said(
        waiting > 0 && `${plural(waiting, "device does", "devices do")} not begin until you resume it.`,
        running > 0 && `${plural(running, "device that has already begun goes", "devices that have already begun go")} on.`,
      ) || "No device is waiting or in progress.",
    resume: (waiting: number) =>
      `${plural(waiting, "device is", "devices are")} still waiting for ${waiting === 1 ? "its" : "their"} turn. A group that failed is skipped.`,
    next: (size: number) => `${plural(size, "device begins", "devices begin")} without waiting for the previous group.`,
    stop: (waiting: number, running: number) =>
      said(
        "It cannot be started again.",
        waiting > 0 && `${plural(waiting, "device", "devices")} will never begin.`,
        running > 0 && `${plural(running, "device is", "devices are")} asked to cancel.`,
      ),
    approve: "It can then be started.",
    deny: "It can then only be deleted.",
    retry: (failed: number, moved: number) =>
      said(
        `A new rollout of the same set is made for the ${plural(failed, "device", "devices")} that failed, in one group. It waits until you start it.`,
        moved > 0 &&
          `${plural(moved, "of them has", "of them have")} had another update since and no longer ${moved === 1 ? "counts" : "count"} as failed, but would get this set again.`,
        "Devices that were updated or cancelled are left out.",
      ),
    delete: (running: number) =>
      running === 0
        ? "No device is in progress."
        : `${plural(running, "device is", "devices are")} in progress: ${running === 1 ? "its update ends" : "their updates end"} here, whatever ${running === 1 ? "it does" : "they do"}.`,
  },
  cannot: {
    start: "Only a rollout that is ready can be started",
    pause: "Only a running rollout can be paused",
    resume: "Only a paused rollout can be resumed",
    next: "Only a running rollout has a next group",
    notRead: "Its groups were not read yet, so it is not known whether one is left",
    noNext: "No group is left",
    stop: "It has ended already",
    approve: "It does not wait for approval",
    retry: "Only a finished rollout with failed devices can be retried",
    retried: "There is a retry of this rollout already",
    delete: "It is being deleted",
  },
  remark: "Remark",
  editTitle: "Edit the rollout",
  asked: {
    start: "Start requested",
    pause: "Pause requested",
    resume: "Resume requested",
    next: "Next group requested",
    stop: "Stop requested",
    approve: "Approved",
    deny: "Denied",
    retry: "Retry created",
    delete: "Deletion requested",
  },
  name: "Name",
  size: "Number of devices",
  set: "Distribution set",
  filter: "Devices",
  type: "Urgency",
  types: { forced: "forced", soft: "soft", timeforced: "forced from a time on", downloadonly: "download only" } as Readonly<
    Record<string, string>
  >,
  weight: "Weight",
  window: "Maintenance window",
  startAt: "Starts at",
  created: "Created",
  started: "Started",
  finished: "Finished",
  decided: "Decided",
  description: "Description",
  dynamicText: "Devices that match later join",
  failuresEmpty: "No failures",
  failuresEmptyText: "What devices report when an update fails is gathered here, grouped by cause.",
  columns: { code: "Code", message: "What devices say", count: "Devices", last: "Last", sample: "For example" },
  noMessage: "no message",
  others: "everything else",
  silentEmpty: "Nobody is silent",
  silenceLabel: "Why nothing is heard of them",
  silences: {
    all: "All silent",
    limits: "Longer than the safety policy allows",
    overdue: "Has not polled in time",
    never: "Has never polled",
  } as Readonly<Record<string, string>>,
  silentTexts: {
    all: "Devices with an open update of which nothing is heard would be listed here.",
    limits:
      "Devices that were silent for longer than the limits of the safety policy would be listed here; without a policy there are none.",
    overdue: "Devices with an open update that have polled before, but not in time, would be listed here.",
    never: "Devices with an open update that have never polled would be listed here.",
  } as Readonly<Record<string, string>>,
  beside: { silent: "silent", proving: "proving themselves", retrying: "waiting for the next attempt" } as Readonly<Record<string, string>>,
  finishedIn: (finished: string, group: string) => `${finished} installed in ${group}`,
  allIn: (total: string, group: string) => `${total} in ${group}`,
  timelineEmpty: "Nothing has happened yet",
  plotTitle: "Progress over time",
  plotLabel: "Devices that are installed, failed and in progress over time",
  plotTable: "As a table",
  plotChart: "As a chart",
  plotSpan: (from: string, to: string, span: string) => (from === to ? `Counted once, ${from}` : `From ${from} to ${to} (${span})`),
  plotNone: "The first counts arrive some seconds after the start.",
  at: "Time",
  rolloutItself: "Rollout",
  changed: (from: string | undefined, to: string) => (from === undefined ? to : `${from} → ${to}`),
  caused: (group: string) => `because of group ${group}`,
  group: "Group",
  chooseGroup: "Group",
  device: "Device",
  status: "Status",
  poll: "Last poll",
  lastMessage: "Last message",
};

export const wizard = {
  title: "New rollout",
  steps: { what: "What", who: "Who", how: "How far, how fast", when: "When", plan: "Plan" } as Readonly<Record<string, string>>,
  stepList: "Steps",
  next: "Next",
  back: "Back",
  create: "Create rollout",
  name: "Name",
  nameHint: "What you will look for in a list a year from now.",
  description: "Description",
  filter: "Devices",
  filterPlaceholder: "controllerid==*",
  filterHint: "Every device that this query finds when the rollout is created takes part. Build makes it out of conditions.",
  everybody: "All devices",
  saved: "Saved filters",
  template: "Groups",
  templates: { canary: "Canary", equal: "Equal groups", all: "All at once", own: "Own groups" } as Readonly<Record<string, string>>,
  templateText: {
    canary: "5 % first, then a quarter of the rest, then everybody.",
    equal: "So many groups of the same size.",
    all: "One group. Nothing limits what a bad update breaks: all devices begin at once.",
    own: "Groups of your own: each takes its share of what the groups before it left.",
  } as Readonly<Record<string, string>>,
  amount: "Number of groups",
  groupName: "Name",
  percent: "Share, %",
  success: "Next group at, %",
  error: "Pause above, %",
  takes: (percent: string, first: boolean) =>
    first ? `Takes ${percent} % of the devices.` : percent === "100" ? "Takes all the rest." : `Takes ${percent} % of the rest.`,
  nextAt: (percent: string) => `The next group begins when ${percent} % have installed it.`,
  pauseAbove: (percent: string) => `The rollout pauses when more than ${percent} % of a group have failed.`,
  last: "the last group",
  addGroup: "Add a group",
  removeGroup: (name: string) => `Remove ${name}`,
  stopsAt: (size: number, failures: number) => `${plural(size, "device", "devices")}: pauses at ${plural(failures, "failure", "failures")}`,
  never: (size: number) => `${plural(size, "device", "devices")}: failures never pause it`,
  emptyGroup: "No device: a share of so few is none. Take a larger one, or leave the group out.",
  haveIt: (number: number) => `${plural(number, "of them has", "of them have")} this set already, and will only say so.`,
  type: "How urgently",
  types: { forced: "Forced: at once", soft: "Soft: when the device agrees", downloadonly: "Download only" } as Readonly<
    Record<string, string>
  >,
  start: "Start",
  starts: { manual: "When I say so", at: "At a time" } as Readonly<Record<string, string>>,
  startAt: "Start at",
  weight: "Weight",
  weightHint: "0 to 1000. Of several open updates a device gets the heaviest first.",
  windowText: "Install in a maintenance window only",
  schedule: "Window begins (cron with seconds)",
  scheduleHint: "0 0 2 * * ? is every night at two.",
  duration: "Lasts",
  zone: "Offset from UTC",
  whoGetsIt: "Who gets it",
  planEmpty: "Choose a set and devices, and the plan is counted here.",
  matched: (total: number) => `${plural(total, "device", "devices")} will be updated`,
  excluded: "Left out",
  outsideScope: "outside of what you may update",
  incompatibleType: "of a type that the set is not for",
  noGroup: "in no group",
  asText: "As text",
  copy: "Copy",
  copyText: "Copy the request",
  mustName: "Give it a name",
  mustSet: "Choose a distribution set",
  mustFilter: "Say which devices",
  badPercent: "Percentages are whole numbers from 1 to 100",
  badThreshold: "Thresholds are whole numbers from 0 to 100",
  badStart: "Choose a moment in the future",
  badWeight: "The weight is a number from 0 to 1000",
  badQuery: "The query cannot be read",
  badAmount: "1 to 500 groups",
  noGroups: "At least one group",
  created: (name: string) => `${name} is being created`,
};
