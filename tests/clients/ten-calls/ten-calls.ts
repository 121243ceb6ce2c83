// Makes ten operations of the management interface by the generated types, and prints the results as JSON. Its arguments are the address of the
// gateway, user and password, and a name that nothing else has.

import createClient from "openapi-fetch";
import type { components, paths } from "./schema.d.ts";

const [baseUrl = "", user = "", password = "", name = ""] = process.argv.slice(2);
const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
const client = createClient<paths>({ baseUrl, headers: { authorization } });
const statuses: number[] = [];

/** Returns what an operation answered, which must be a success. */
function done<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  statuses.push(response.status);
  if (data === undefined) throw new Error(`${response.status}: ${JSON.stringify(error)}`);
  return data;
}
function only<T>(items: readonly T[]): T {
  const [item] = items;
  if (item === undefined || items.length > 1) throw new Error(`${items.length} instead of one`);
  return item;
}

const api = "/api/mgmt/v1";
const info = done(await client.GET(`${api}/userinfo`));
const module = only(done(await client.POST(`${api}/softwaremodules`, { body: [{ name, version: "1.0", type: "os" }] })));
const upload = new FormData();
upload.set("file", new Blob(["hello, device\n"]), "image.bin");
const artifact = done(
  await client.POST(`${api}/softwaremodules/{softwareModuleId}/artifacts`, {
    params: { path: { softwareModuleId: module.id } },
    body: { file: "" },
    bodySerializer: () => upload,
  }),
);
const made = only(
  done(await client.POST(`${api}/distributionsets`, { body: [{ name, version: "1.0", type: "os", modules: [{ id: module.id }] }] })),
);
const target = only(done(await client.POST(`${api}/targets`, { body: [{ controllerId: name, name: "by TypeScript" }] })));
const changed = done(
  await client.PUT(`${api}/targets/{targetId}`, { params: { path: { targetId: name } }, body: { description: "changed" } }),
);
const imported = done(
  await client.POST(`${api}/targets.csv`, {
    body: `controllerId,name\n${name}-csv,by CSV\n`,
    bodySerializer: (text) => text,
    headers: { "content-type": "text/csv" },
  }),
);
const page = done(
  await client.GET(`${api}/targets`, { params: { query: { q: `controllerid==${name}*`, sort: "controllerid:ASC", limit: 1 } } }),
);
const assigned = done(
  await client.POST(`${api}/distributionsets/{distributionSetId}/assignedTargets`, {
    params: { path: { distributionSetId: made.id } },
    body: [{ id: name, type: "soft", weight: 7 }],
  }),
);
const action = only(done(await client.GET(`${api}/actions`, { params: { query: { q: `target.controllerid==${name}` } } })).content);
const running: components["schemas"]["ActionDetailStatus"] = "running";
const rollout = done(
  await client.POST(`${api}/rollouts`, {
    body: { name, distributionSetId: made.id, targetFilterQuery: `controllerid==${name}*`, amountGroups: 1 },
  }),
);

console.log(
  JSON.stringify({
    statuses,
    tenant: info.tenant,
    size: artifact.size,
    complete: made.complete,
    description: changed.description,
    created: imported.created,
    found: [page.total, page.size, page.content[0]?.controllerId],
    assigned: assigned.assigned,
    running: action.detailStatus === running,
    forceType: action.forceType,
    rollout: rollout.name,
    targetId: target.controllerId,
  }),
);
