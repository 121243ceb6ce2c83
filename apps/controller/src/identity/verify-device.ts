import { deviceApiKeyPrefix } from "@harrier/contracts";
import { digest, type Queryable, runOne } from "@harrier/db";
import type { VerifyDeviceRequest, VerifyDeviceResponse } from "@harrier/rpc";
import {
  type VerifiedKeyRow,
  type VerifiedRow,
  verifyAnonymous,
  verifyApiKey,
  verifyCertificate,
  verifyGatewayToken,
  verifyTargetToken,
} from "./verify-device.sql.ts";

interface Deps {
  db: Queryable;
}

/** PostgreSQL stores no text with NUL, so a credential with one is unknown. */
const nul = "\u0000";

/**
 * Verifies one credential of one device in one round trip (spec 000 §5, contract device.md §9). Only digests are compared, so the time that it takes
 * says nothing about the secret.
 */
export async function verifyDevice({ db }: Deps, request: VerifyDeviceRequest): Promise<VerifyDeviceResponse> {
  const row = await read(db, request);
  if (row === undefined || !row.ok || row.tenantId === null || row.tenant === null) {
    return { ok: false, tenantId: 0, tenant: "", subject: "", revision: row?.revision ?? 0, expiresAt: 0 };
  }
  const { tenantId, tenant, revision, expiresAt } = row;
  return { ok: true, tenantId, tenant, subject: subjectOf(request, row), revision, expiresAt: expiresAt ?? 0 };
}

/** The result for a credential that is right; for an API key it has the key's id too. */
type Verified = VerifiedRow & Partial<VerifiedKeyRow>;

function subjectOf({ scheme, controllerId }: VerifyDeviceRequest, { keyId }: Verified): string {
  if (scheme === "GatewayToken") return "gateway";
  if (scheme === "ApiKey") return `${deviceApiKeyPrefix}${keyId}`;
  return scheme === "Anonymous" ? "anonymous" : controllerId;
}

async function read(db: Queryable, request: VerifyDeviceRequest): Promise<Verified | undefined> {
  const { tenant, controllerId, scheme, credential } = request;
  if (credential === "" || credential.includes(nul) || tenant.includes(nul) || controllerId.includes(nul)) return undefined;
  switch (scheme) {
    case "TargetToken":
      return runOne(db, verifyTargetToken, [tenant, controllerId, digest(credential)]);
    case "GatewayToken":
      return runOne(db, verifyGatewayToken, [tenant, digest(credential)]);
    case "ApiKey":
      return runOne(db, verifyApiKey, [tenant, digest(credential)]);
    case "Certificate":
      return runOne(db, verifyCertificate, [tenant, credential.split(",")]);
    case "Anonymous":
      return runOne(db, verifyAnonymous, [tenant]);
    default:
      return undefined;
  }
}
