import type { ClaimedClient } from "../authentication/client-token/claimed-client.ts";
import type { Refusal } from "./refusals.ts";

const longest = 128;
/** Ids of clients tell their tenant (contract extensions.md); int4 in the table. */
const form = /^oc_([1-9]\d{0,9})_[1-9]\d{0,14}$/;
const largestTenantId = 2_147_483_647;

/** What the audit trail is told of a token request that was answered with 401; never the secret. */
export function refusedClient({ scheme, clientId }: ClaimedClient, address: string): Refusal {
  const tenantId = Number(form.exec(clientId)?.[1] ?? 0);
  const actor = clientId.slice(0, longest);
  return {
    tenantId: tenantId > largestTenantId ? 0 : tenantId,
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
