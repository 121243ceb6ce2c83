import type { ClaimedClient } from "../authentication/client-token/claimed-client.ts";
import type { DeniedRequest } from "./denied-requests.ts";

const maxLength = 128;
/** Ids of clients contain their tenant (contract extensions.md), which is an int4 in the table. */
const form = /^oc_([1-9]\d{0,9})_[1-9]\d{0,14}$/;
const maxTenantId = 2_147_483_647;

/** Makes the audit record of a token request that was answered with 401; it never has the secret. */
export function refusedClient({ scheme, clientId }: ClaimedClient, address: string): DeniedRequest {
  const tenantId = Number(form.exec(clientId)?.[1] ?? 0);
  const actor = clientId.slice(0, maxLength);
  return {
    tenantId: tenantId > maxTenantId ? 0 : tenantId,
    tenant: "",
    signedIn: false,
    actor,
    action: "signIn",
    entity: "oauth2Client",
    entityIds: actor === "" ? [] : [actor],
    scheme,
    address: address.slice(0, 64),
    status: 401,
    errorCode: "unauthenticated",
  };
}
