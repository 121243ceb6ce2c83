import type { Stack } from "@harrier/stack";
import { type Admin, eventually, withClient } from "@harrier/testkit";

/** Claims are proven by what the device shows, and a device that says nothing for a minute counts as silent. */
export const watchedPolicy = {
  proof: { graceSeconds: 0, stable: { polls: 0 } },
  limits: { downloadingSeconds: 60, installingSeconds: 60 },
};
/** The versions of the sets of these tests, and one from before. */
export const newVersion = "1.0";
export const oldVersion = "0.9";

/** What an action answers of its policy. */
export interface Safety {
  stage?: string;
  silentSince?: number;
  proof?: { state: string; by?: string };
  reason?: string;
}

/** Says by which attribute a device shows what it runs. */
export function showVersions(admin: Admin): Promise<void> {
  return admin.configure("evidence.default", JSON.stringify([{ attribute: "sw_version", equals: `\${set.version}` }]));
}

export async function safetyOf(admin: Admin, controllerId: string, actionId: number): Promise<Safety> {
  return (await admin.get<{ safety?: Safety }>(`targets/${controllerId}/actions/${actionId}`)).safety ?? {};
}

/** Lets a minute pass for the watch of an action, and waits until its device counts as silent. */
export async function becomesSilent(
  { stack, admin }: { stack: Stack; admin: Admin },
  controllerId: string,
  actionId: number,
): Promise<void> {
  await withClient(stack.adminDatabaseUrl as string, (client) =>
    client.query(
      `update controller.action_watches set began_at = began_at - i, since = since - i, due_at = due_at - i
         from (select interval '61 seconds' as i) x where tenant_id = 1 and action_id = $1`,
      [actionId],
    ),
  );
  await eventually(async () => {
    if ((await safetyOf(admin, controllerId, actionId)).silentSince === undefined) throw new Error(`action ${actionId} is not silent`);
  }, 60_000);
}
