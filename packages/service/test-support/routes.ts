import { arrayBody, bodiless, deviceOk, ok, route } from "@harrier/contracts";
import { entityNotFound } from "@harrier/errors";
import { z } from "zod";
import type { Mount } from "../src/mount.ts";
import type { RequestContext } from "../src/request-context.ts";
import { type Served, serve } from "./serve.ts";

const device = {
  service: "controller",
  interface: "device",
  success: deviceOk,
  permission: [],
  errors: [],
  summary: "",
  source: "",
} as const;
const management = { ...device, interface: "management", success: ok, permission: ["READ_TARGET"] } as const;
export const base = "/:tenant/controller/v1/:controllerId";

const poll = route({ ...device, id: "device.poll", method: "GET", path: base, response: z.unknown() });
const action = route({
  ...device,
  id: "device.getDeployment",
  method: "GET",
  path: `${base}/deploymentBase/:actionId`,
  params: z.object({ actionId: z.coerce.number().int() }),
  query: z.object({ c: z.coerce.number().int().default(-1) }),
  response: z.unknown(),
});
const feedback = route({
  ...device,
  id: "device.deploymentFeedback",
  method: "POST",
  path: `${base}/deploymentBase/:actionId/feedback`,
  body: z.object({ status: z.enum(["closed", "proceeding"]), note: z.string().max(5).optional() }),
});
const optional = route({
  ...device,
  id: "o",
  method: "POST",
  path: `${base}/optional`,
  body: z.object({ a: z.number() }),
  bodyKind: "optional-json",
});
const listArtifacts = route({ ...device, id: "device.listArtifacts", method: "GET", path: `${base}/artifacts`, response: z.unknown() });
const raw = route({ ...device, id: "raw", method: "GET", path: `${base}/raw`, responseType: "text/plain", credential: "download" });
const broken = route({ ...device, id: "broken", method: "GET", path: `${base}/broken`, response: z.unknown() });
export const targets = route({
  ...management,
  id: "targets.get",
  method: "GET",
  path: "/targets/:controllerId",
  response: z.unknown(),
  permissionRest: [["LEGACY"]],
});
const write = route({
  ...management,
  id: "targets.put",
  method: "PUT",
  path: "/targets/:controllerId",
  success: bodiless,
  body: z.object({}),
});
const writeMany = route({
  ...management,
  id: "lists.put",
  method: "PUT",
  path: "/lists",
  success: bodiless,
  body: arrayBody(z.object({})),
});

/** A service with one route of each kind. `seen` is the context of the last poll or target request. */
export async function serveRoutes(): Promise<Served & { seen(): RequestContext | undefined }> {
  let seen: RequestContext | undefined;
  const served = await serve((mount) => {
    registerRoutes(mount, (ctx) => {
      seen = ctx;
    });
  });
  return { ...served, seen: () => seen };
}

/** Mounts the routes; `note` gets the context of each poll or target request. */
export function registerRoutes(mount: Mount, note: (ctx: RequestContext) => void = () => {}): void {
  mount(poll, async (ctx) => {
    note(ctx);
    return { body: { config: { polling: { sleep: "00:05:00" } }, name: "Gerät" } };
  });
  // the members would not compile with other types than those of the route
  mount(action, async ({ params, query }) => {
    if (params.actionId === 99) throw entityNotFound("Action", 99);
    return { json: JSON.stringify({ id: params.actionId.toFixed(0), c: query.c + 0 }) };
  });
  mount(feedback, async (ctx) => {
    const status: "closed" | "proceeding" = ctx.body.status;
    ctx.res.setHeader("x-seen", encodeURIComponent(ctx.body.note ?? status));
  });
  mount(optional, async (ctx) => ({ headers: { "x-seen": JSON.stringify(ctx.body ?? null) } }));
  mount(listArtifacts, async () => ({ body: [] }));
  mount(raw, async () => ({ body: "0f  file.bin", headers: { "content-type": "text/plain" } }));
  mount(broken, async () => {
    throw new TypeError("password=hunter2");
  });
  mount(targets, async (ctx) => {
    note(ctx);
    return { body: { base: ctx.base, surface: ctx.surface } };
  });
  mount(write, async () => undefined);
  mount(writeMany, async () => undefined);
}

/** Path of the poll that the device of `ask` makes. */
export const path = "/DEFAULT/controller/v1/d1";
