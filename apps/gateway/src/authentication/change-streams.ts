import type { Client, Watch } from "@harrier/rpc";
import type { OpenStreams } from "../routing/open-streams.ts";
import type { DeviceCache } from "./device-cache.ts";
import type { PrincipalCache } from "./principal-cache.ts";

interface Deps {
  devices: DeviceCache;
  principals: PrincipalCache;
  /** The streams of events, whose users were signed in when they began. */
  open: Pick<OpenStreams, "check" | "checkAll" | "isEmpty">;
  deviceIdentity: Pick<Client<"harrier.controller.v1.DeviceIdentityService">, "watch">;
  identity: Pick<Client<"harrier.management.v1.IdentityService">, "watch">;
}

const lookAgainMs = 30_000;

export interface ChangeStreams {
  /** Returns true when both owners have been reached: before that a first sign-in could meet a connection that is still being made. */
  heardBoth(): boolean;
  /**
   * Follows no change of devices until `follow`, and trusts nothing that was cached of them: controller answers each sign-in. The same for users once none
   * is cached and follows events any more: to verify a password again costs a quarter of a second.
   */
  rest(): void;
  follow(): void;
  stop(): void;
}

/**
 * Follows both owners' change logs, so that a changed credential, permission or setting takes effect here within a second. An interruption of a
 * stream empties its cache, because a change in the gap would be missed; streams of events are checked behind it for the same reason.
 */
export function followChanges(deps: Deps): ChangeStreams {
  const heard = { devices: false, principals: false };
  let devices: Watch | undefined;
  let principals: Watch | undefined;
  let later: NodeJS.Timeout | undefined;
  let stopped = false;
  const openDevices = () =>
    deps.deviceIdentity.watch(
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
  const openPrincipals = () =>
    deps.identity.watch(
      "watchPrincipalChanges",
      {},
      {},
      (change) => {
        if (change.heartbeat) return;
        deps.principals.forget(change);
        deps.open.check(change);
      },
      (state) => {
        heard.principals ||= state === "alive";
        if (state === "alive") hearPrincipals();
        else deps.principals.streamSilent();
      },
    );
  const hearPrincipals = (): void => {
    if (deps.principals.isTrusted()) return;
    deps.principals.streamAlive();
    deps.open.checkAll();
  };
  const restOfUsers = (): void => {
    if (deps.principals.isEmpty() && deps.open.isEmpty()) {
      principals?.stop();
      principals = undefined;
      deps.principals.streamSilent();
    } else later = setTimeout(restOfUsers, lookAgainMs).unref();
  };
  const streams: ChangeStreams = {
    heardBoth: () => heard.devices && heard.principals,
    rest() {
      if (!streams.heardBoth()) return; // the gateway is not ready before
      devices?.stop();
      devices = undefined;
      deps.devices.streamSilent();
      restOfUsers();
    },
    follow() {
      clearTimeout(later);
      if (stopped) return;
      devices ??= openDevices();
      principals ??= openPrincipals();
    },
    stop() {
      stopped = true;
      clearTimeout(later);
      devices?.stop();
      principals?.stop();
    },
  };
  streams.follow();
  return streams;
}
