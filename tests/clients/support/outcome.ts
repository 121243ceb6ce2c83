import type { Admin } from "@harrier/testkit";

interface ActionView {
  type: string;
  active: boolean;
  detailStatus: string;
}
export interface StatusEntry {
  type: string;
  messages: string[];
}

/** What the server shows of an action and its target when the client has finished. */
export interface Outcome {
  target: string;
  /** The status as `update finished`; for an open action `(open)` follows. */
  action: string;
  /** The types of the history's entries, oldest first. */
  history: string[];
  /** The messages of the entries, oldest first. */
  messages: string[];
}

export async function outcomeOf(admin: Admin, controllerId: string, actionId: number): Promise<Outcome> {
  const target = await admin.get<{ updateStatus: string }>(`targets/${controllerId}`);
  const path = `targets/${controllerId}/actions/${actionId}`;
  const action = await admin.get<ActionView>(path);
  const { content } = await admin.get<{ content: StatusEntry[] }>(`${path}/status?limit=100&sort=id:ASC`);
  return {
    target: target.updateStatus,
    action: `${action.type} ${action.detailStatus}${action.active ? " (open)" : ""}`,
    history: content.map(({ type }) => type),
    messages: content.flatMap(({ messages }) => messages),
  };
}

/** Returns the newest entry of the history, which clients and tools take for the present state. */
export async function newestEntry(admin: Admin, controllerId: string, actionId: number): Promise<StatusEntry | undefined> {
  const path = `targets/${controllerId}/actions/${actionId}/status?offset=0&limit=50&sort=id:DESC`;
  return (await admin.get<{ content: StatusEntry[] }>(path)).content[0];
}

/** Returns the id of the set that is installed or assigned there; undefined if there is none. */
export async function setOf(admin: Admin, controllerId: string, which: "installedDS" | "assignedDS"): Promise<number | undefined> {
  const { body } = await admin.call<{ id: number } | undefined>(`targets/${controllerId}/${which}`);
  return body?.id;
}
