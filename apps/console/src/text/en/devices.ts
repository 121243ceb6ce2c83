import { count, plural } from "../../ui/format.ts";

export const filters = {
  clear: "Clear the filter",
  matches: (total: number) => `${count(total)} match`,
  more: (total: number) => `+${count(total)} more`,
};

export const devices = {
  title: "Devices",
  filter: "Filter devices",
  placeholder: "A name, or a query: updatestatus==error;attribute.region==eu",
  columns: {
    name: "Device",
    status: "Status",
    type: "Type",
    installed: "Installed",
    assigned: "Assigned",
    action: "Open update",
    poll: "Last poll",
    address: "Address",
    tags: "Tags",
  } as Readonly<Record<string, string>>,
  choose: "Columns",
  never: "never",
  overdue: "overdue",
  facets: { updatestatus: "Status", targettype: "Type", tag: "Tag", installedds: "Installed", overdue: "Overdue" } as Readonly<
    Record<string, string>
  >,
  overdueFacet: "Overdue",
  emptyTitle: "No devices yet",
  emptyText: "A device appears when it polls for the first time with the gateway's token, or when you add it here.",
  emptyCommand: "harrier device create my-device",
  add: "Add device",
  addText: "The device signs in with the security token that the server makes for it.",
  controllerId: "Controller id",
  controllerIdHint: "The name by which the device polls. It never changes.",
  name: "Name",
  nameHint: "The controller id if empty.",
  create: "Add",
  created: (id: string) => `${id} was added`,
  export: "Export CSV",
  selected: (chosen: number) => `${plural(chosen, "device", "devices")} chosen`,
  unselect: "Choose none",
  assign: "Assign software",
  assignTitle: (chosen: number) => `Assign software to ${plural(chosen, "device", "devices")}`,
  assignText: "Each device gets an update of its own, which replaces one that is still open. A rollout does the same group by group.",
  assigned: (made: number, already: number) => `${plural(made, "update", "updates")} created, ${count(already)} had it already`,
  set: "Distribution set",
  setNone: "Choose a set",
  force: "How urgently",
  forces: { forced: "Forced: at once", soft: "Soft: when the device agrees", downloadonly: "Download only" } as Readonly<
    Record<string, string>
  >,
  tag: "Tag",
  tagTitle: (chosen: number) => `Tag ${plural(chosen, "device", "devices")}`,
  tagNone: "Choose a tag",
  tagDone: "Tagged",
  all: (total: number) => `Choose all ${count(total)} that match`,
  delete: "Delete",
  deleteTitle: (chosen: number) => `Delete ${plural(chosen, "device", "devices")}?`,
  deleteText: "They disappear with their history. A device that polls with the gateway's token comes back as a new one.",
  deleted: (gone: number) => `${plural(gone, "device", "devices")} deleted`,
};
