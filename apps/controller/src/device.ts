import { entityNotFound, HarrierError } from "@harrier/errors";
import type { Identity } from "@harrier/rpc";

/** The device that a request is about. */
export interface Device {
  tenantId: number;
  /** Canonical spelling of the tenant, for events. */
  tenant: string;
  controllerId: string;
  traceparent: string | null;
  /** Public address of the service; `tenantPath` and `controllerPath` are path segments, encoded, the tenant as the request spelled it. */
  base: string;
  tenantPath: string;
  controllerPath: string;
}

/** The device that the gateway has signed in. Its id comes from the signed identity, never from the path again. */
export function deviceOf(request: { identity: Identity; base: string; params: { tenant: string } }): Device {
  const { identity, base, params } = request;
  const { controllerId } = identity;
  if (controllerId === undefined) throw new HarrierError("unauthenticated");
  // PostgreSQL holds no such text: as an id it can only be unknown
  if (controllerId.includes("\u0000")) throw entityNotFound("Target", controllerId);
  return {
    tenantId: identity.tenantId,
    tenant: identity.tenant,
    controllerId,
    traceparent: identity.traceparent ?? null,
    base,
    tenantPath: encodeURIComponent(params.tenant),
    controllerPath: encodeURIComponent(controllerId),
  };
}

/** Absolute address of a target's resource, `{B}/{tenant}/controller/v1/{controllerId}` and what follows (contract device.md §2). */
export function resourceHref(device: Device, rest: string): string {
  return `${device.base}/${device.tenantPath}/controller/v1/${device.controllerPath}${rest}`;
}

/** Ids of actions stay below 2^31: anything else exists nowhere, and its text may not fit the column. */
export function storableId(id: number): number {
  return Number.isSafeInteger(id) && id > 0 && id <= 2_147_483_647 ? id : 0;
}

/** Why an action cannot be found, in the words that clients know (contract device.md §10.1). */
export function notFound(outcome: "targetNotFound" | "actionNotFound" | "foreignAction", device: Device, actionId: number): HarrierError {
  if (outcome === "targetNotFound") return entityNotFound("Target", device.controllerId);
  if (outcome === "actionNotFound") return entityNotFound("Action", actionId);
  return new HarrierError("entityNotFound", `Not a valid action (${actionId}) for target: ${device.controllerId}`);
}
