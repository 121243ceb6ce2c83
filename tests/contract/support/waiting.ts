import { type Admin, succeeded, uniqueName } from "@harrier/testkit";

/** An action that waits for its confirmation. */
export interface Waiting {
  controllerId: string;
  actionId: number;
}

/** There are fewer files that ask for one. */
const count = 24;
const flow = "user.confirmation.flow.enabled";

/**
 * Makes the actions before any test runs: while the confirmation flow is on, every assignment in the tenant waits. It is switched off again
 * afterwards, which leaves the actions waiting (contract device.md §7.1).
 */
export async function makeWaiting(admin: Admin, max = count): Promise<Waiting[]> {
  const set = await admin.createSet([(await admin.createModule()).id]);
  const targets = await admin.createTargets(max, uniqueName("waiting"));
  await admin.configure(flow, true);
  try {
    type Assigned = { assignedActions: { id: number; _links: { self: { href: string } } }[] };
    const items = targets.map(({ controllerId }) => ({ id: controllerId }));
    const { assignedActions } = await admin.post<Assigned>(`distributionsets/${set.id}/assignedTargets`, items);
    return assignedActions.map(({ id, _links }) => ({ controllerId: _links.self.href.split("/").at(-3) as string, actionId: id }));
  } finally {
    succeeded(await admin.call(`system/configs/${flow}`, { method: "DELETE" }), flow);
  }
}
