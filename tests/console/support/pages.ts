import { type Admin, uniqueName } from "@harrier/testkit";
import { makeDevices, makeSet } from "./fleet.ts";

/** Makes one of everything that has a page of its own, and answers the paths of all pages of the console. */
export async function makePages(admin: Admin): Promise<string[]> {
  const prefix = uniqueName("seen");
  const set = await makeSet(admin);
  const [device] = await makeDevices(admin, prefix, 30);
  const rollout = await admin.post<{ id: number }>("rollouts", {
    name: prefix,
    distributionSetId: set.id,
    targetFilterQuery: `controllerid==${prefix}-*`,
    amountGroups: 3,
  });
  const { content } = await admin.get<{ content: { id: number }[] }>("softwaremodules");
  const filter = await admin.post<{ id: number }>("targetfilters", { name: prefix, query: `controllerid==${prefix}-*` });
  const trail = await admin.get<{ content: { id: string }[] }>("audit?limit=1");
  const about = `/rollouts/${rollout.id}`;
  return [
    ...["/", "/devices", "/devices?q=name==nobody", `/devices/${device?.controllerId}`, "/devices/nobody", "/rollouts", "/rollouts/new"],
    ...[about, `${about}?tab=failures`, `${about}?tab=silent`, `${about}?tab=devices`, `${about}?tab=timeline`, `${about}?tab=definition`],
    ...["history", "attributes", "metadata", "access"].map((tab) => `/devices/${device?.controllerId}?tab=${tab}`),
    ...[
      "/software",
      "/software?tab=modules",
      `/software/sets/${set.id}`,
      "/software/compare",
      `/software/compare?a=${set.id}&b=${set.id}`,
      `/software/modules/${content[0]?.id}`,
      "/auto-assign",
      "/auto-assign?q=nobody",
      "/auto-assign?tab=assignments",
      `/filters/${filter.id}`,
      "/approvals",
      "/reports?from=2026-01",
      "/actions",
      "/audit",
      `/audit/${trail.content[0]?.id}`,
      "/me",
      "/nowhere",
    ],
    ...["/settings", "/settings/polling", "/settings/sign-in", "/settings/quotas", "/settings/webhooks", "/settings/nothing"],
    ...["/settings/types", "/settings/types?tab=softwareModuleTypes", "/settings/tags", "/settings/tags?q=nobody"],
    ...["/settings/users", "/settings/roles", "/settings/keys", "/settings/clients"],
    ...["/system", "/system/operations", "/system/status"],
  ];
}
