import { randomBytes } from "node:crypto";

/** An action that waits for its confirmation. */
export interface Waiting {
  controllerId: string;
  actionId: number;
}

/** There are fewer files that ask for one. */
const count = 24;
const flow = "system/configs/user.confirmation.flow.enabled";

/**
 * Makes the actions before any test runs: while the confirmation flow is on, every assignment in the tenant waits. It is switched off again
 * afterwards, which leaves the actions waiting (contract device.md §7.1).
 */
export async function makeWaiting(api: string, headers: Record<string, string>, max = count): Promise<Waiting[]> {
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(`${api}/${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  };
  const name = `waiting-${randomBytes(7).toString("hex")}x`;
  const ids = Array.from({ length: max }, (_, n) => ({ id: `${name}-${n}` }));
  const [module] = await ask<{ id: number }[]>("POST", "softwaremodules", [{ name, version: "1.0", type: "os" }]);
  const [set] = await ask<{ id: number }[]>("POST", "distributionsets", [{ name, version: "1.0", type: "os", modules: [module] }]);
  const targets = ids.map(({ id }) => ({ controllerId: id }));
  await ask("POST", "targets", targets);
  await ask("PUT", flow, { value: true });
  try {
    type Assigned = { assignedActions: { id: number; _links: { self: { href: string } } }[] };
    const { assignedActions } = await ask<Assigned>("POST", `distributionsets/${set?.id}/assignedTargets`, ids);
    return assignedActions.map(({ id, _links }) => ({ controllerId: _links.self.href.split("/").at(-3) as string, actionId: id }));
  } finally {
    await ask("DELETE", flow);
  }
}
