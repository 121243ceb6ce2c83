import type { Client, Watch } from "@harrier/rpc";
import type { DeviceCache } from "./device-cache.ts";
import type { PrincipalCache } from "./principal-cache.ts";

interface Deps {
  devices: DeviceCache;
  principals: PrincipalCache;
  deviceIdentity: Pick<Client<"harrier.controller.v1.DeviceIdentityService">, "watch">;
  identity: Pick<Client<"harrier.management.v1.IdentityService">, "watch">;
}

/**
 * Follows both owners' change logs, so that a changed credential, permission or setting takes effect here within a second. An interruption of a
 * stream empties its cache, because a change in the gap would be missed.
 */
export function followChanges(deps: Deps): Watch & { heardBoth(): boolean } {
  const heard = { devices: false, principals: false };
  const devices = deps.deviceIdentity.watch(
    "watchCredentialChanges",
    {},
    {},
    (change) => {
      if (!change.heartbeat) deps.devices.forget(change);
    },
    (state) => {
      heard.devices ||= state === "alive";
      if (state === "alive") deps.devices.streamAlive();
      else deps.devices.streamSilent();
    },
  );
  const principals = deps.identity.watch(
    "watchPrincipalChanges",
    {},
    {},
    (change) => {
      if (!change.heartbeat) deps.principals.forget(change);
    },
    (state) => {
      heard.principals ||= state === "alive";
      if (state === "alive") deps.principals.streamAlive();
      else deps.principals.streamSilent();
    },
  );
  return {
    /** Returns true when both owners have been reached: before that a first sign-in could meet a connection that is still being made. */
    heardBoth: () => heard.devices && heard.principals,
    stop() {
      devices.stop();
      principals.stop();
    },
  };
}
