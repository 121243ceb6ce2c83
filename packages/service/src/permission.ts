import type { Route, Surface } from "@harrier/contracts";
import { lacksPermission } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";

/** Whether a principal may use a route on a surface; the gateway and the owner both check this. */
export function permits(route: Route, surface: Surface, principal: Principal): boolean {
  if (route.interface === "device") {
    if (route.credential === "download") return principal.kind !== "user";
    return principal.kind === "device";
  }
  if (principal.kind !== "user") return false;
  if (holdsAll(principal, route.permission)) return true;
  // the specified path requires the specification's permission, and /rest/v1 either one (contract management.md D7)
  return surface === "rest" && (route.permissionRest?.some((alternative) => holdsAll(principal, alternative)) ?? false);
}

/**
 * @throws insufficientPermission where `permits` is false. Its `info` names the permissions of the specification that the caller lacks; where no
 *   permission would help, as for a device at the management interface, it has none.
 */
export function requirePermission(route: Route, surface: Surface, principal: Principal): void {
  if (permits(route, surface, principal)) return;
  const lacking = principal.kind === "user" ? route.permission.filter((needed) => !principal.permissions.includes(needed)) : [];
  throw lacksPermission(lacking);
}

function holdsAll(principal: Principal, permissions: readonly string[]): boolean {
  return permissions.every((permission) => principal.permissions.includes(permission));
}
