import { Writable } from "node:stream";
import { basePaths, type Route, routes } from "@harrier/contracts";
import { countTrips } from "@harrier/db";
import { entityNotFound, HarrierError } from "@harrier/errors";
import { type Identity, identityHeaders, parseKeys, unboundBody } from "@harrier/rpc";
import { createHttp, createLog, createMetrics } from "@harrier/service";
import { expect } from "vitest";
import { allPermissions } from "../identity/permissions.ts";
import { mountAll } from "../mount-all.ts";
import type { Fixture } from "./management.fixture.ts";

type Parts = Parameters<typeof mountAll>[1];

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  permissions?: readonly string[];
  scopes?: Record<string, readonly number[]>;
  /** Not the tenant DEFAULT. */
  tenantId?: number;
  rid?: string;
  method?: string;
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a body as a client sees it
  body: any;
  headers: Headers;
}

export interface HttpFixture {
  /** Calls through a socket with a signed identity, and checks a success against the route's own schema. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** What controller was asked, newest last. */
  asked: { method: string; request: Record<string, unknown>; commandId?: string | undefined }[];
  /** Makes the next call to controller fail so. */
  failNext(error: Error): void;
  close(): Promise<void>;
}

const secret = Buffer.alloc(32, 9).toString("base64");
const keys = parseKeys(`gateway/management=k1:${secret}`);
export const origin = "http://harrier.example";

/** The HTTP side of management over real PostgreSQL, with a controller that writes its own tables. */
export async function httpFixture(fixture: Fixture, options: { restDialect?: "current" | "classic" } = {}): Promise<HttpFixture> {
  const asked: HttpFixture["asked"] = [];
  let failure: Error | undefined;
  const note = (method: string, request: object, call: { commandId?: string }): void => {
    asked.push({ method, request: request as Record<string, unknown>, commandId: call.commandId });
    const thrown = failure;
    failure = undefined;
    if (thrown) throw thrown;
  };
  const log = createLog({ service: "management", level: "silent", destination: new Writable({ write: (_c, _e, done) => done() }) });
  const http = createHttp({ service: "management", keys, log, metrics: createMetrics({ service: "management" }), countTrips, ...options });
  mountAll(http.mount, {
    ...fixture,
    ...controllerFake(fixture, note),
    nudge: () => {},
    nudgeOperations: () => {},
    nudgeTargetDeletions: () => {},
    invalidations: {
      async carryOut(invalidation) {
        note("carryOut", invalidation, {});
        return true;
      },
    },
    now: Date.now,
    fault: () => {},
  });
  const port = await http.listen("127.0.0.1", 0);

  const call = async (method: string, path: string, asks: CallOptions = {}): Promise<Answer> => {
    const url = path.split("?", 1)[0] ?? "";
    // fetch encodes some characters of a query (an apostrophe, say): what is signed is what is sent
    const sent = new URL(`http://127.0.0.1:${port}${path}`);
    const identity: Identity = {
      tenantId: asks.tenantId ?? fixture.tenantId,
      tenant: "DEFAULT",
      kind: "user",
      subject: "admin",
      permissions: asks.permissions ?? allPermissions,
      ...(asks.scopes === undefined ? {} : { targetTypeScopes: asks.scopes }),
      rid: asks.rid ?? `rid-${Math.random().toString(36).slice(2)}`,
      baseUrl: origin,
      audience: "management",
      method,
      path: sent.pathname + sent.search,
      expiresAt: Date.now() + 10_000,
      caller: "gateway",
    };
    const hasBody = asks.body !== undefined;
    const text = typeof asks.body === "string" ? asks.body : JSON.stringify(asks.body);
    const isCsv = asks.headers?.["content-type"]?.startsWith("text/csv") === true;
    const content = isCsv ? unboundBody : hasBody ? Buffer.from(text) : undefined;
    const response = await fetch(sent, {
      method,
      headers: { ...identityHeaders(keys, identity, content), ...(hasBody ? { "content-type": "application/json" } : {}), ...asks.headers },
      ...(hasBody ? { body: text } : {}),
    });
    const answered = await response.text();
    const body = answered === "" ? undefined : JSON.parse(answered);
    const rest = url.startsWith(basePaths.rest) && options.restDialect !== "classic";
    if (response.ok) checkAgainstRoute(`${method} ${url}`, body, { status: response.status, rest });
    return { status: response.status, body, headers: response.headers };
  };
  const failNext = (error: Error): void => {
    failure = error;
  };
  return { call, asked, failNext, close: () => http.close(100) };
}

/** The answer is what the contract says: no member more, none of another type. */
function checkAgainstRoute(asked: string, body: unknown, { status, rest }: { status: number; rest: boolean }): void {
  const [method, url = ""] = asked.split(" ");
  const base = url.startsWith(basePaths.rest) ? basePaths.rest : basePaths.spec;
  const route = routes.find((row) => row.interface === "management" && row.method === method && matches(row, url.slice(base.length)));
  expect(route, asked).toBeDefined();
  const schema = rest && route?.responseRest !== undefined ? route.responseRest : route?.response;
  if (status === 204 || schema === undefined || schema === null) expect(body).toBeUndefined();
  else expect(schema.parse(body)).toEqual(body);
}

function matches(route: Route, path: string): boolean {
  return new RegExp(`^${route.path.replace(/:\w+/g, "[^/]+")}$`).test(path);
}

type Note = (method: string, request: object, call: { commandId?: string }) => void;

function controllerFake(fixture: Fixture, note: Note): Pick<Parts, "targets" | "actions"> {
  const one = async (sql: string, values: unknown[]) => (await fixture.asController(sql, values))[0];
  const tokenOf = (controllerId: string) => `token-of-${controllerId}`;
  return {
    targets: {
      async createTargets(request, call) {
        note("createTargets", request, call);
        const targets = [];
        for (const target of request.targets ?? []) {
          const known = await one("select 1 from targets where controller_id = $1", [target.controllerId]);
          if (known) throw new HarrierError("entityAlreadyExists");
          const typeId = target.targetTypeId === undefined ? {} : { typeId: Number(target.targetTypeId) };
          const id = await fixture.addTarget(target.controllerId ?? "", typeId);
          await one("update targets set name = $2, description = $3, address = $4 where id = $1", [
            id,
            target.name,
            target.description,
            target.address,
          ]);
          targets.push({
            controllerId: target.controllerId ?? "",
            id,
            securityToken: target.securityToken ?? tokenOf(target.controllerId ?? ""),
          });
        }
        return { targets };
      },
      async updateTarget(request, call) {
        note("updateTarget", request, call);
        const changed = await one("update targets set name = coalesce($2, name) where controller_id = $1 returning id", [
          request.controllerId,
          request.name,
        ]);
        if (changed === undefined) throw entityNotFound("Target", request.controllerId);
        return {};
      },
      async deleteTargets(request, call) {
        note("deleteTargets", request, call);
        const gone = await fixture.asController("delete from targets where controller_id = any($1) returning id", [request.controllerIds]);
        return { deleted: gone.length };
      },
      async deleteTargetsById(request, call) {
        note("deleteTargetsById", request, call);
        const gone = await fixture.asController("delete from targets where id = any($1::int[]) returning id", [request.targetIds]);
        return { deleted: gone.length };
      },
      async readSecurityTokens(request, call) {
        note("readSecurityTokens", request, call);
        return { tokens: Object.fromEntries((request.controllerIds ?? []).map((id) => [id, tokenOf(id)])) };
      },
      async activateAutoConfirm(request, call) {
        note("activateAutoConfirm", request, call);
        const made = await one(
          `insert into auto_confirmations (tenant_id, target_id, initiator, remark, created_by)
           select 1, id, $2, $3, 'admin' from targets where controller_id = $1 on conflict do nothing returning target_id`,
          [request.controllerId, request.initiator, request.remark],
        );
        if (made === undefined) throw new HarrierError("autoConfAlreadyActive");
        return {};
      },
      async deactivateAutoConfirm(request, call) {
        note("deactivateAutoConfirm", request, call);
        await one("delete from auto_confirmations c using targets t where t.id = c.target_id and t.controller_id = $1", [
          request.controllerId,
        ]);
        return {};
      },
      async changeTag(request, call) {
        note("changeTag", request, call);
        return { missing: [] };
      },
      async changeGroup(request, call) {
        note("changeGroup", request, call);
        const changed = await fixture.asController(
          `update targets set target_group = $3 where controller_id = any($1::text[]) or id = any($2::int[]) returning id`,
          [request.controllerIds ?? [], request.targetIds ?? [], request.group ?? null],
        );
        return { changed: changed.length };
      },
      async importTargets(request, call) {
        note("importTargets", request, call);
        return { created: 0, failed: 0, problems: [] };
      },
      async addMetadata(request, call) {
        note("addMetadata", request, call);
        for (const { key, value } of request.entries ?? []) {
          await one(
            "insert into target_metadata (tenant_id, target_id, key, value) select 1, id, $2, $3 from targets where controller_id = $1",
            [request.controllerId, key, value ?? null],
          );
        }
        return {};
      },
      async changeMetadata(request, call) {
        note("changeMetadata", request, call);
        return { value: request.value ?? "as it was" };
      },
      async removeMetadata(request, call) {
        note("removeMetadata", request, call);
        return {};
      },
    },
    actions: {
      async assignSet(request, call) {
        note("assignSet", request, call);
        const actions = [];
        let alreadyAssigned = 0;
        for (const item of request.items ?? []) {
          const controllerId = item.controllerId ?? "";
          const target = await one(
            "select t.id, s.assigned_set_id as set from targets t join target_state s on s.target_id = t.id where t.controller_id = $1",
            [controllerId],
          );
          if (target === undefined) continue;
          const setId = Number(request.set?.id);
          if (Number(target["set"]) === setId) alreadyAssigned += 1;
          else actions.push({ controllerId, id: await fixture.addAction({ targetId: Number(target["id"]), controllerId, setId }) });
          await one("update target_state set assigned_set_id = $2, update_status = 2 where target_id = $1", [target["id"], setId]);
        }
        return { alreadyAssigned, actions };
      },
      async assignSets(request, call) {
        note("assignSets", request, call);
        return { alreadyAssigned: 0, actions: (request.items ?? []).map(({ controllerId = "" }, n) => ({ controllerId, id: 800 + n })) };
      },
      async assignOffline(request, call) {
        note("assignOffline", request, call);
        return { alreadyAssigned: 0, actions: (request.controllerIds ?? []).map((controllerId, n) => ({ controllerId, id: 900 + n })) };
      },
      async cancelAction(request, call) {
        note("cancelAction", request, call);
        const known = await one("select status from actions where id = $1", [request.actionId]);
        if (known?.["status"] === 4) throw new HarrierError("actionNotCancelable");
        await one("update actions set status = $2, active = $3 where id = $1", [request.actionId, request.force ? 4 : 5, !request.force]);
        return {};
      },
      async forceAction(request, call) {
        note("forceAction", request, call);
        await one("update actions set force_type = 1 where id = $1", [request.actionId]);
        return {};
      },
      async deleteActions(request, call) {
        note("deleteActions", request, call);
        return { removed: request.actionIds?.length ?? 0 };
      },
      async confirmAction(request, call) {
        note("confirmAction", request, call);
        await one("update actions set status = $2 where id = $1", [request.actionId, request.confirmed ? 3 : 11]);
        return {};
      },
    },
  };
}
