import { randomBytes } from "node:crypto";
import type pg from "pg";
import type { Api } from "./api.ts";

export interface SeededSet {
  id: number;
  moduleId: number;
  filename: string;
}

/** The tokens of devices are predictable here, so that the load can sign in as each of them. */
export const tokenOf = (controllerId: string): string => `the-token-of-${controllerId}`;
export const targetTokenHeader = (controllerId: string): string => `TargetToken ${tokenOf(controllerId)}`;

const perRequest = 1_000;

/** Creates `count` targets `<prefix>000000…` through the API and lets them sign in with their tokens. */
export async function seedTargets(api: Api, prefix: string, count: number): Promise<string[]> {
  await api.put("/system/configs/authentication.targettoken.enabled", { value: true });
  const ids = Array.from({ length: count }, (_, i) => `${prefix}${String(i).padStart(6, "0")}`);
  for (let from = 0; from < count; from += perRequest) {
    const batch = ids.slice(from, from + perRequest);
    await api.post(
      "/targets",
      batch.map((controllerId) => ({ controllerId, name: controllerId, securityToken: tokenOf(controllerId) })),
    );
  }
  return ids;
}

/**
 * Writes the same as rows, directly into the database: a million of them within a minute. The ids must be free and above all that services assign.
 */
export async function seedFleet(client: pg.Client, fleet: { prefix: string; count: number; firstId: number }): Promise<void> {
  const values = [fleet.prefix, fleet.count, fleet.firstId, tokenOf("")];
  await client.query(
    `insert into controller.targets (tenant_id, id, controller_id, name, token_digest, token_cipher, created_by, last_modified_by)
     select 1, $3::int + n, c.id, c.id, sha256(convert_to($4 || c.id, 'UTF8')), '', 'x', 'x'
       from generate_series(0, $2::int - 1) n cross join lateral (select $1 || lpad(n::text, 6, '0') as id) c`,
    values,
  );
  await client.query("analyze controller.targets"); // otherwise the checks of foreign keys would take it for the empty table that it was
  await client.query(
    `insert into controller.target_state (tenant_id, target_id, update_status)
     select 1, $2::int + n, 1 from generate_series(0, $1::int - 1) n`,
    [fleet.count, fleet.firstId],
  );
  await client.query("analyze controller.target_state");
}

/** Creates a complete set of one module with one small file. */
export async function seedSet(api: Api, name: string, bytes = 64 * 1024): Promise<SeededSet> {
  const [module] = await api.post<{ id: number }[]>("/softwaremodules", [{ name, version: "1", type: "os" }]);
  const moduleId = module?.id ?? 0;
  const filename = `${name}.img`;
  await api.upload(`/softwaremodules/${moduleId}/artifacts`, { name: filename, bytes: randomBytes(bytes) });
  const [set] = await api.post<{ id: number }[]>("/distributionsets", [{ name, version: "1", type: "os", modules: [{ id: moduleId }] }]);
  return { id: set?.id ?? 0, moduleId, filename };
}

/** Assigns a set to targets, as many at a time as one request may carry; returns their action ids by controllerId. */
export async function assign(api: Api, setId: number, controllerIds: readonly string[], fields: object = {}): Promise<Map<string, number>> {
  const actions = new Map<string, number>();
  for (let from = 0; from < controllerIds.length; from += 2_000) {
    const items = controllerIds.slice(from, from + 2_000).map((id) => ({ id, ...fields }));
    const answer = await api.post<{ assignedActions: { id: number; _links: { self: { href: string } } }[] }>(
      `/distributionsets/${setId}/assignedTargets`,
      items,
    );
    for (const a of answer.assignedActions) actions.set(/targets\/([^/]+)\/actions/.exec(a._links.self.href)?.[1] ?? "", a.id);
  }
  return actions;
}
