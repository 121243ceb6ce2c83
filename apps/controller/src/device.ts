import { entityNotFound, HarrierError } from "@harrier/errors";
import type { Identity } from "@harrier/rpc";

/** The device that a request is about. */
export interface Device {
  tenantId: number;
  /** The canonical spelling of the tenant, for events. */
  tenant: string;
  controllerId: string;
  traceparent: string | null;
  /** The public address of the service; `tenantPath` and `controllerPath` are encoded path segments, with the tenant as the request spelled it. */
  base: string;
  tenantPath: string;
  controllerPath: string;
}

/** Returns the device that the gateway has signed in. Its id comes from the signed identity, never from the path. */
export function deviceOf(request: { identity: Identity; base: string; params: { tenant: string } }): Device {
  const { identity, base, params } = request;
  const { controllerId } = identity;
  if (controllerId === undefined) throw new HarrierError("unauthenticated");
  // PostgreSQL cannot hold such a text, so the id is certainly unknown.
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

/** Builds the absolute address of a target's resource, `{B}/{tenant}/controller/v1/{controllerId}` and what follows (contract device.md §2). */
export function resourceHref(device: Device, rest: string): string {
  return `${device.base}/${device.tenantPath}/controller/v1/${device.controllerPath}${rest}`;
}

/** Ids of actions stay below 2^31: any other id exists nowhere, and its text may not fit the column. */
export function storableId(id: number): number {
  return Number.isSafeInteger(id) && id > 0 && id <= 2_147_483_647 ? id : 0;
}

/** Makes the error of an unknown action, with the message that clients know (contract device.md §10.1). */
export function notFound(outcome: "targetNotFound" | "actionNotFound" | "foreignAction", device: Device, actionId: number): HarrierError {
  if (outcome === "targetNotFound") return entityNotFound("Target", device.controllerId);
  if (outcome === "actionNotFound") return entityNotFound("Action", actionId);
  return new HarrierError("entityNotFound", `Not a valid action (${actionId}) for target: ${device.controllerId}`);
}
