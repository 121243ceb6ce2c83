import { actionStatus, forceType, updateStatus } from "@harrier/contracts";
import type { Branch } from "./function-parts.sql.ts";
import type { TargetEffect } from "./transitions.ts";

// What an effect of transitions.ts does to the target's row `t` of the action `a`, in SQL: for reports, and for ends of actions that no report brings.

export const isDownloadOnly = `a.force_type = ${forceType.downloadonly}`;

const otherOpen = "from actions o where o.tenant_id = t.tenant_id and o.target_id = t.target_id and o.active and o.id <> a.id";

// An update that is not proven yet has not ended for its target (contract beyond.md §1.3).
const proving = "proving_set(t.tenant_id, t.target_id, a.id)";
const nextOpen = `(select o.set_id ${otherOpen} order by o.id limit 1), ${proving}`;
const somethingOpen = `(exists (select ${otherOpen}) or ${proving} is not null)`;

const assignedSql: Record<TargetEffect["assigned"], string | undefined> = {
  keep: undefined,
  none: "t.assigned_set_id := null;",
  noneIfOwnSet: "if t.assigned_set_id = a.set_id then t.assigned_set_id := null; end if;",
  ownSetIfDownloadOnly: `if ${isDownloadOnly} then t.assigned_set_id := a.set_id; end if;`,
  nextOpenOrInstalled: `t.assigned_set_id := coalesce(${nextOpen}, t.installed_set_id);`,
  nextOpenOrOwnSet: `t.assigned_set_id := coalesce(${nextOpen}, a.set_id);`,
  nextOpenOrKeep: `t.assigned_set_id := coalesce(${nextOpen}, t.assigned_set_id);`,
};

// The server's clock orders installations: a device with a wrong clock must not keep an old set (contract device.md §7.2, "Timestamp trap").
const installedSql: Record<TargetEffect["installed"], string | undefined> = {
  keep: undefined,
  ownSet: `t.installed_set_id := a.set_id;
t.installed_at := now();`,
};

const newestFinished = `greatest(a.id, (
  select max(o.id) from actions o
   where o.tenant_id = t.tenant_id and o.target_id = t.target_id and o.set_id = a.set_id and o.status = ${actionStatus.FINISHED}))`;

const inSync = `t.update_status := ${updateStatus.in_sync};`;
const updateStatusSql: Record<TargetEffect["updateStatus"], string | undefined> = {
  keep: undefined,
  error: `t.update_status := ${updateStatus.error};`,
  errorIfNothingElse: `if t.assigned_set_id is null then t.update_status := ${updateStatus.error}; end if;`,
  inSync,
  inSyncIfAssignedIsInstalled: `if t.assigned_set_id = t.installed_set_id then ${inSync} end if;`,
  inSyncIfNothingOpen: `if not ${somethingOpen} then ${inSync} end if;`,
  pendingWhileOpen: `t.update_status := case when ${somethingOpen} then ${updateStatus.pending} else ${updateStatus.in_sync} end;`,
};

/**
 * Builds the branch that changes the target's row `t` as the effect says. `installedAction` is the action of the installedBase link, the newest of the
 * set's finished ones.
 */
export function effectBranch(when: string, effect: TargetEffect, installedAction = newestFinished): Branch {
  const steps = [
    // installed precedes updateStatus, which compares with it; assigned reads the installed set as it was, where it reads it.
    assignedSql[effect.assigned],
    installedSql[effect.installed],
    effect.installed === "keep" ? undefined : `t.installed_action_id := ${installedAction};`,
    updateStatusSql[effect.updateStatus],
    effect.requestAttributes === "ask" ? "t.request_attributes := true;" : undefined,
  ];
  return { when, body: steps.filter((step) => step !== undefined).flatMap((step) => step.split("\n")) };
}
