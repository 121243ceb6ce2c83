import { digest, type Queryable, runOne } from "@harrier/db";
import type { VerifyDeviceRequest, VerifyDeviceResponse } from "@harrier/rpc";
import { type VerifiedRow, verifyGatewayToken, verifyTargetToken } from "./verify-device.sql.ts";

interface Deps {
  db: Queryable;
}

/** PostgreSQL holds no text with NUL, so whoever sends one is nobody we know. */
const nul = "\u0000";

/**
 * Verifies one credential of one device in one round trip (spec 000 §5, contract device.md §9). Only digests are compared: how long
 * that takes says nothing about the secret.
 */
export async function verifyDevice({ db }: Deps, request: VerifyDeviceRequest): Promise<VerifyDeviceResponse> {
  const row = await read(db, request);
  if (row === undefined || !row.ok || row.tenantId === null || row.tenant === null) {
    return { ok: false, tenantId: 0, tenant: "", subject: "", revision: row?.revision ?? 0, expiresAt: 0 };
  }
  const subject = request.scheme === "GatewayToken" ? "gateway" : request.controllerId;
  return { ok: true, tenantId: row.tenantId, tenant: row.tenant, subject, revision: row.revision, expiresAt: 0 };
}

async function read(db: Queryable, request: VerifyDeviceRequest): Promise<VerifiedRow | undefined> {
  const { tenant, controllerId, scheme, credential } = request;
  if (credential === "" || tenant.includes(nul) || controllerId.includes(nul)) return undefined;
  switch (scheme) {
    case "TargetToken":
      return runOne(db, verifyTargetToken, [tenant, controllerId, digest(credential)]);
    case "GatewayToken":
      return runOne(db, verifyGatewayToken, [tenant, digest(credential)]);
    default:
      return undefined;
  }
}
