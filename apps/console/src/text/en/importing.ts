import { count, plural } from "../../ui/format.ts";

export const importing = {
  open: "Import CSV",
  title: "Import devices",
  text: "The first line names the columns: controllerId, and if wanted name, description, address, securityToken and targetType. An export can be imported as it is.",
  file: "File",
  fileFirst: "Choose a file",
  reading: "The file is being read",
  large: "The file is too large to be looked at here. The server says what it took.",
  look: (records: number, columns: string) => `${plural(records, "device", "devices")} in the file; it has the columns ${columns}.`,
  noId: "The file has no column controllerId",
  unknown: (name: string) => `There is no column ${name.slice(0, 64)}`,
  nothing: "No device is in the file",
  onError: "If a line cannot be taken",
  onErrors: { abort: "Take none of them", skip: "Take the others" },
  button: (records: number | undefined) => (records === undefined ? "Import" : `Import ${count(records)}`),
  created: (created: number) => `${plural(created, "device was", "devices were")} added`,
  resultTitle: "Not everything was taken",
  result: (created: number, failed: number) =>
    `${plural(created, "device was", "devices were")} added, ${plural(failed, "line was", "lines were")} not taken.`,
  errors: "Lines that were not taken",
  line: "Line",
  device: "Device",
  problem: "What is wrong",
  more: (more: number) => `${count(more)} more lines were not taken.`,
};
