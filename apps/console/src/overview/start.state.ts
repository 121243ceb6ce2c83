import { commandLine } from "../ui/api.state.ts";

/** So few devices that one follows each, and a poll that nobody waits for. */
const devices = "10";
const poll = "2s";
const tenantByDefault = "DEFAULT";
const serverByDefault = "http://127.0.0.1:8080";

interface Where {
  /** The address of the server, as the browser knows it. */
  readonly server: string;
  readonly tenant: string;
  readonly token: string;
}

/** The command that runs simulated devices against this server, in the folder in which `npm start` was called; what it would guess is left out. */
export function simulateCommand({ server, tenant, token }: Where): string {
  const url = server.replace(/\/$/, "");
  const options = commandLine([
    ["--url", url === serverByDefault ? undefined : url],
    ["--tenant", tenant === tenantByDefault ? undefined : tenant],
    ["--gateway-token", token],
    ["--devices", devices],
    ["--poll", poll],
  ]);
  // npm passes on what follows its own two dashes.
  return `npm run simulate -- ${options}`;
}

interface GatewayToken {
  readonly enabled: boolean;
  readonly key: string;
}

/** The settings that are to be changed before devices can sign in by gateway token; a token that is there stays. */
export function tokenChanges({ enabled, key }: GatewayToken, newKey: () => string): Readonly<Record<string, string | boolean>> {
  return {
    ...(key === "" ? { "authentication.gatewaytoken.key": newKey() } : {}),
    ...(enabled ? {} : { "authentication.gatewaytoken.enabled": true }),
  };
}

interface Done {
  readonly devices: number;
  readonly sets: number;
  readonly rollouts: number;
}

/** The first step that is not done yet; undefined after the last. */
export function nextStep({ devices, sets, rollouts }: Done): "devices" | "software" | "rollout" | undefined {
  if (devices === 0) return "devices";
  if (sets === 0) return "software";
  return rollouts === 0 ? "rollout" : undefined;
}

/** Whether the first steps are still to be done; unknown until all that decides it has been read. */
export type Phase = "unknown" | "going" | "over";

interface Begun {
  readonly nothingInstalled: boolean;
  readonly devices: number;
  /** Undefined until it is known. */
  readonly started: Done | undefined;
}

/**
 * The steps are over when a device has installed something, or when all are done. Without devices the first is to be done, whatever else is there, but
 * which of the others are done decides what is shown.
 */
export function phaseOf({ nothingInstalled, devices, started }: Begun): Phase {
  if (!nothingInstalled) return "over";
  if (started === undefined) return "unknown";
  if (devices === 0) return "going";
  return nextStep(started) === undefined ? "over" : "going";
}
