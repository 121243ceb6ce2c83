import { createHash } from "node:crypto";
import { entryId, plainText } from "@harrier/audit";
import { type Queryable, run } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { NoteRefusalsRequest, NoteRefusalsResponse } from "@harrier/rpc";
import { insertRefusals } from "./refusals.sql.ts";

interface Deps {
  db: Queryable;
  /** Whose trail has what concerns no tenant that there is. */
  defaultTenant: string;
}

/** More than a gateway tells apart between two batches. */
const mostRefusals = 1_000;

/**
 * Writes what a gateway refused, alike ones as one entry (docs/adr, audit trail). The ids come from the batch's own, so that one that is
 * repeated writes nothing twice.
 */
export async function noteRefusals(deps: Deps, request: NoteRefusalsRequest, batchId: string): Promise<NoteRefusalsResponse> {
  const { refusals } = request;
  if (refusals.length === 0) return {};
  if (refusals.length > mostRefusals) throw new HarrierError("constraintViolation", `more than ${mostRefusals} refusals`);
  const rows = refusals.map((one, i) => ({
    id: entryId(one.at, createHash("sha256").update(`${batchId}/${i}`).digest().subarray(0, 16)),
    at: one.at,
    tenant_id: one.tenantId,
    tenant: plainText(one.tenant, 128),
    actor_kind: one.signedIn ? "USER" : "NOBODY",
    actor: plainText(one.actor, 256),
    action: plainText(one.action, 128),
    entity: plainText(one.entity, 64),
    entity_ids: one.entityIds.slice(0, 50).map((id) => plainText(id, 256)),
    source_ip: plainText(one.address, 64),
    request_id: plainText(one.requestId, 64),
    times: Math.max(1, one.times),
    details: detailsOf(one),
    status: one.status,
    error_code: plainText(one.errorCode, 128),
  }));
  await run(deps.db, insertRefusals, [JSON.stringify(rows), deps.defaultTenant]);
  return {};
}

function detailsOf({ signedIn, scheme, tenant }: { signedIn: boolean; scheme: string; tenant: string }): string {
  if (signedIn) return "{}";
  const claimed = tenant === "" ? {} : { tenant: plainText(tenant, 128) };
  return JSON.stringify({ ...(scheme === "" ? {} : { scheme: plainText(scheme, 32) }), ...claimed });
}
