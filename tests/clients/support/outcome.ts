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

/** What the server holds of an action and its target when the client has had its say. */
export interface Outcome {
  target: string;
  /** As `update finished`; an open one with `(open)` behind. */
  action: string;
  /** Types of the history's entries, oldest first. */
  history: string[];
  /** What the entries say, oldest first. */
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

/** What clients and tools take for the state of things: the first entry of the history, the newest first. */
export async function newestEntry(admin: Admin, controllerId: string, actionId: number): Promise<StatusEntry | undefined> {
  const path = `targets/${controllerId}/actions/${actionId}/status?offset=0&limit=50&sort=id:DESC`;
  return (await admin.get<{ content: StatusEntry[] }>(path)).content[0];
}

/** Id of the set that is installed or assigned there; undefined for none. */
export async function setOf(admin: Admin, controllerId: string, which: "installedDS" | "assignedDS"): Promise<number | undefined> {
  const { body } = await admin.call<{ id: number } | undefined>(`targets/${controllerId}/${which}`);
  return body?.id;
}
