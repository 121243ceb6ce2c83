import type { Route } from "@harrier/contracts";
import { type HarrierError, httpStatus, type Surface } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { auditEntity, isAudited } from "@harrier/service";
import { parseBasic } from "../authentication/basic.ts";
import type { Certificate } from "../authentication/certificate.ts";
import { parseCredential } from "../authentication/credential.ts";
import type { DeniedRequest } from "./denied-requests.ts";

/** A request that the gateway denied. */
export interface Refused {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
  readonly certificates?: readonly Certificate[];
  readonly address: string;
  readonly principal: Principal | undefined;
  readonly error: HarrierError;
  readonly surface: Surface;
}

const maxLength = 128;

/**
 * Selects the denied requests that enter the audit trail: a failed sign-in, or a changing call by a principal. A request without a credential is not
 * recorded, nor is one that a rate limit denied.
 */
export function deniedRequestOf(refused: Refused): DeniedRequest | undefined {
  const { route, params, address, principal, error, surface } = refused;
  const why = { address: address.slice(0, 64), status: httpStatus(error.code, surface), errorCode: error.code };
  if (principal === undefined) return error.code === "unauthenticated" ? failedSignIn(refused, why) : undefined;
  // A client that is denied because a service is down, or because of a limit, retries; thousands of the latter would fill the trail.
  if (!isAudited(route) || why.status >= 500 || error.code === "tooManyRequests") return undefined;
  return {
    tenantId: principal.tenantId,
    tenant: principal.tenant,
    signedIn: true,
    actor: principal.subject.slice(0, maxLength),
    action: route.id,
    entity: auditEntity(route),
    entityIds: Object.values(params).map((value) => value.slice(0, maxLength)),
    scheme: "",
    ...why,
  };
}

function failedSignIn(refused: Refused, why: Pick<DeniedRequest, "address" | "status" | "errorCode">): DeniedRequest | undefined {
  const { route, params, authorization, certificates = [] } = refused;
  if (authorization === undefined && certificates.length === 0) return undefined;
  const credential = parseCredential(authorization);
  // A first word that is no known scheme may be the secret itself.
  const scheme = credential?.scheme ?? (authorization === undefined ? "Certificate" : "unknown");
  const isDevice = route.interface === "device";
  const claimed = isDevice ? deviceOf(params) : userOf(scheme === "Basic" ? parseBasic(credential?.value ?? "")?.username : undefined);
  return {
    tenantId: 0,
    ...claimed,
    signedIn: false,
    action: "signIn",
    entity: isDevice ? "target" : "user",
    entityIds: claimed.actor === "" ? [] : [claimed.actor],
    scheme,
    ...why,
  };
}

function deviceOf(params: Readonly<Record<string, string>>): { tenant: string; actor: string } {
  return { tenant: (params["tenant"] ?? "").slice(0, maxLength), actor: (params["controllerId"] ?? "").slice(0, maxLength) };
}

/** Reads `tenant\user` or `user` (contract management.md §1.1); a wrong token names no actor. */
function userOf(username = ""): { tenant: string; actor: string } {
  const at = username.indexOf("\\");
  return { tenant: username.slice(0, Math.max(at, 0)).slice(0, maxLength), actor: username.slice(at + 1).slice(0, maxLength) };
}
