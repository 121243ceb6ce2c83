import {
  type ActionStatus,
  type ActionStatusView,
  type ActionView,
  actionStatusMembers,
  actionStatusWord,
  forceTypeNames,
  windowAt,
} from "@harrier/contracts";
import { auditOf, encoded, type Link, optional, type View } from "@harrier/query";
import { actionSafetyJson } from "./action-safety.json.ts";
import type { ActionRow, StatusRow } from "./actions.sql.ts";

export interface ActionShown {
  now: number;
  /** An answer with one action carries all links. */
  full: boolean;
}

/** Renders an action of spec 001 §2.5 in the terms of the dialect (contract rollouts.md §6.1). */
export function actionJson(view: View, row: ActionRow, { now, full }: ActionShown): ActionView {
  const forceType = forceTypeNames[row.forceType] ?? "forced";
  const self = `${view.base}/targets/${encoded(row.controllerId)}/actions/${row.id}`;
  const state = actionStatusMembers(row.status as ActionStatus, row.active, view.surface === "rest" ? "rest" : "spec");
  return {
    ...auditOf(row),
    id: row.id,
    ...state,
    forceType,
    ...optional("forceTime", forceType === "timeforced" ? row.forceTime : null),
    weight: row.weight,
    ...optional("rollout", row.rolloutId),
    ...optional("rolloutName", row.rolloutName),
    ...optional("lastStatusCode", row.lastStatusCode),
    ...optional("maintenanceWindow", maintenanceWindow(row, now)),
    ...named(row),
    ...optional("safety", row.safety && actionSafetyJson({ ...row.safety, seen: row.seen ?? null }, row.policy ?? null, full)),
    _links: { self: { href: self }, ...(full ? fullLinks(view.base, self, { row, cancelled: state.type === "cancel" }) : {}) },
  };
}

/** Names what the action is about, so that a list needs no further call for each row (contract console.md §1, M04). */
function named({ controllerId, targetName, setId, setName, setVersion, groupId, groupName, lastMessage }: ActionRow) {
  return {
    target: { controllerId, ...optional("name", targetName) },
    ...optional("distributionSet", setName === null || setVersion === null ? null : { id: setId, name: setName, version: setVersion }),
    ...optional("rolloutGroup", groupId === null || groupName === null ? null : { id: groupId, name: groupName }),
    ...optional("lastMessage", lastMessage),
  };
}

/** Renders the running or the next maintenance window; once none comes any more, `nextStartAt` is 0 (contract rollouts.md §6.1). */
function maintenanceWindow(row: ActionRow, now: number): ActionView["maintenanceWindow"] {
  const { maintenanceSchedule: schedule, maintenanceDuration: duration, maintenanceTimezone: timezone } = row;
  if (schedule === null || duration === null || timezone === null) return undefined;
  const window = { schedule, duration, timezone };
  return { ...window, nextStartAt: windowAt(window, now)?.start ?? 0 };
}

function fullLinks(base: string, self: string, { row, cancelled }: { row: ActionRow; cancelled: boolean }): Record<string, Link> {
  return {
    ...(cancelled ? { canceledaction: { href: self } } : {}),
    target: { href: `${base}/targets/${encoded(row.controllerId)}`, ...optional("name", row.targetName) },
    distributionset: {
      href: `${base}/distributionsets/${row.setId}`,
      ...optional("name", row.setName === null ? null : `${row.setName}:${row.setVersion}`),
    },
    status: { href: `${self}/status?offset=0&limit=50&sort=${encoded("id:DESC")}` },
    ...(row.rolloutId === null ? {} : { rollout: { href: `${base}/rollouts/${row.rolloutId}`, ...optional("name", row.rolloutName) } }),
  };
}

/** Renders one entry of the action history (spec 001 §2.5). */
export function statusJson(row: StatusRow): ActionStatusView {
  return {
    id: row.id,
    type: actionStatusWord(row.status as ActionStatus),
    messages: row.messages,
    reportedAt: row.reportedAt,
    timestamp: row.timestamp,
    ...optional("code", row.code),
  };
}
