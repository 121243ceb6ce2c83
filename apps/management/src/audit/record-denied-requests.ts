import { createHash } from "node:crypto";
import { entryId, plainText } from "@harrier/audit";
import { type Queryable, run } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { NoteRefusalsRequest, NoteRefusalsResponse } from "@harrier/rpc";
import { insertDeniedRequests } from "./denied-requests.sql.ts";

interface Deps {
  db: Queryable;
  /** This tenant's trail gets the entries that belong to no existing tenant. */
  defaultTenant: string;
}

/** A gateway keeps fewer different entries than this between two batches. */
const maxDeniedRequests = 1_000;

/**
 * Records the requests that a gateway denied; requests that are alike are one entry (docs/adr, audit trail). The ids of the entries are
 * derived from the id of the batch, so that a repeated batch writes nothing twice.
 */
export async function recordDeniedRequests(deps: Deps, request: NoteRefusalsRequest, batchId: string): Promise<NoteRefusalsResponse> {
  const { refusals } = request;
  if (refusals.length === 0) return {};
  if (refusals.length > maxDeniedRequests) throw new HarrierError("constraintViolation", `more than ${maxDeniedRequests} refusals`);
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
  await run(deps.db, insertDeniedRequests, [JSON.stringify(rows), deps.defaultTenant]);
  return {};
}

function detailsOf({ signedIn, scheme, tenant }: { signedIn: boolean; scheme: string; tenant: string }): string {
  if (signedIn) return "{}";
  const claimed = tenant === "" ? {} : { tenant: plainText(tenant, 128) };
  return JSON.stringify({ ...(scheme === "" ? {} : { scheme: plainText(scheme, 32) }), ...claimed });
}
