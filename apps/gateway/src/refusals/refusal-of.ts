import type { Route } from "@harrier/contracts";
import { type HarrierError, httpStatus, type Surface } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { auditEntity, isAudited } from "@harrier/service";
import { parseBasic } from "../authentication/basic.ts";
import type { Certificate } from "../authentication/certificate.ts";
import { parseCredential } from "../authentication/credential.ts";
import type { Refusal } from "./refusals.ts";

/** A request that the door did not let through. */
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

const longest = 128;

/**
 * What the audit trail is told of it: a sign-in that failed, or a changing call by somebody who is known. A request without any credential
 * tried nothing, and what the rate limits turn away is not looked at.
 */
export function refusalOf(refused: Refused): Refusal | undefined {
  const { route, params, address, principal, error, surface } = refused;
  const why = { address: address.slice(0, 64), status: httpStatus(error.code, surface), errorCode: error.code };
  if (principal === undefined) return error.code === "unauthenticated" ? failedSignIn(refused, why) : undefined;
  // who is turned away because a service is gone, or for asking too much, comes again; thousands of the latter would fill the trail
  if (!isAudited(route) || why.status >= 500 || error.code === "tooManyRequests") return undefined;
  return {
    tenantId: principal.tenantId,
    tenant: principal.tenant,
    signedIn: true,
    actor: principal.subject.slice(0, longest),
    action: route.id,
    entity: auditEntity(route),
    entityIds: Object.values(params).map((value) => value.slice(0, longest)),
    scheme: "",
    ...why,
  };
}

function failedSignIn(refused: Refused, why: Pick<Refusal, "address" | "status" | "errorCode">): Refusal | undefined {
  const { route, params, authorization, certificates = [] } = refused;
  if (authorization === undefined && certificates.length === 0) return undefined;
  const credential = parseCredential(authorization);
  // a word that is no scheme of ours may be the secret itself
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
  return { tenant: (params["tenant"] ?? "").slice(0, longest), actor: (params["controllerId"] ?? "").slice(0, longest) };
}

/** `tenant\user` or `user` (contract management.md §1.1); who brings a token that is not right is nobody. */
function userOf(username = ""): { tenant: string; actor: string } {
  const at = username.indexOf("\\");
  return { tenant: username.slice(0, Math.max(at, 0)).slice(0, longest), actor: username.slice(at + 1).slice(0, longest) };
}
