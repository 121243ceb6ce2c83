import type { Route, Surface } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";

/** True when a principal may use a route on a surface; the gateway and the owner both ask this. */
export function permits(route: Route, surface: Surface, principal: Principal): boolean {
  if (route.interface === "device") {
    if (route.credential === "download") return principal.kind !== "user";
    return principal.kind === "device";
  }
  if (principal.kind !== "user") return false;
  if (holdsAll(principal, route.permission)) return true;
  // on the specified path the specification's permission alone, on /rest/v1 either (contract management.md D7)
  return surface === "rest" && (route.permissionRest?.some((alternative) => holdsAll(principal, alternative)) ?? false);
}

/** Throws `insufficientPermission` where `permits` is false. */
export function requirePermission(route: Route, surface: Surface, principal: Principal): void {
  if (!permits(route, surface, principal)) throw new HarrierError("insufficientPermission");
}

function holdsAll(principal: Principal, permissions: readonly string[]): boolean {
  return permissions.every((permission) => principal.permissions.includes(permission));
}
