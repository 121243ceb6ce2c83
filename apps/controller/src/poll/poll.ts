import { actionStatus, forceType, isWindowOpen, type PollView } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import type { Log } from "@harrier/service";
import { type Device, resourceHref } from "../device.ts";
import type { TenantSettingsCache } from "../settings/tenant-settings.ts";
import type { LastPolls } from "./last-polls.ts";
import type { PollRow } from "./poll.sql.ts";
import type { PollReader } from "./poll-reader.ts";
import { type RegistrationDeps, registerTarget } from "./registration.ts";
import { sleepOf } from "./sleep.ts";

export interface PollDeps extends RegistrationDeps {
  /** `createPollReader` of poll-reader.ts. */
  readPoll: PollReader;
  settings: Pick<TenantSettingsCache, "get">;
  lastPolls: Pick<LastPolls, "record">;
  log: Pick<Log, "info">;
  now: () => number;
}

export interface PollRequest {
  device: Device;
  /** The address `http://<client ip>`, where the gateway forwarded it. */
  address: string | null;
  /** True if an unknown target may be registered with this credential. */
  mayRegister: boolean;
}

/**
 * Answers one poll (spec 000 §2.2): one round trip when the target exists, shared under load, and one more if the poll changes something beside
 * others; its last poll is written with the next flush, which also counts it for claims that want polls (domain/watched-polls.sql.ts).
 */
export async function poll(deps: PollDeps, request: PollRequest): Promise<PollView> {
  const { device, address } = request;
  const { polling } = deps.settings.get(device.tenantId);
  const read = () => deps.readPoll({ tenantId: device.tenantId, controllerId: device.controllerId, address }, polling);
  let row = await read();
  if (row === undefined) {
    await registerTarget(deps, request);
    // The row is read again, whichever of two concurrent first polls has created it.
    row = await read();
    // The target was deleted in this very moment: the next poll registers it again.
    if (row === undefined) throw new HarrierError("unavailable");
  }
  if (row.replacedAddress) {
    const { tenant, controllerId } = device;
    deps.log.info(
      { tenant, controllerId, before: row.replacedAddress, address },
      "a thing polls over HTTP: until it registers again it gets no messages",
    );
  }
  const now = deps.now();
  deps.lastPolls.record(device.tenantId, row.targetId, now);
  const links = linksOf(row, device, now);
  const view: PollView = { config: { polling: { sleep: sleepOf(polling, row, device.controllerId, now) } } };
  if (Object.keys(links).length > 0) view._links = links;
  return view;
}

type PollLinks = NonNullable<PollView["_links"]>;

/** Selects the links of a poll (contract device.md §3.3): at most one for the open action, and independently two more. */
export function linksOf(row: PollRow, device: Device, now: number): PollLinks {
  const links: PollLinks = {};
  if (row.actionId !== null) {
    const id = row.actionId;
    if (row.status === actionStatus.CANCELING) {
      links.cancelAction = { href: resourceHref(device, `/cancelAction/${id}`) };
    } else {
      const rel = row.status === actionStatus.WAIT_FOR_CONFIRMATION ? "confirmationBase" : "deploymentBase";
      const windowOpen = row.maintenance !== null && isWindowOpen(row.maintenance, now);
      const c = contentHash(id, row.revision ?? 0, isForcedNow(row.forceType, row.forceTimeMs, now), windowOpen);
      links[rel] = { href: resourceHref(device, `/${rel}/${id}?c=${c}`) };
    }
  }
  if (row.installedActionId !== null) links.installedBase = { href: resourceHref(device, `/installedBase/${row.installedActionId}`) };
  if (row.requestAttributes) links.configData = { href: resourceHref(device, "/configData") };
  return links;
}

function isForcedNow(force: number | null, forceTimeMs: number | null, now: number): boolean {
  return force === forceType.timeforced && forceTimeMs !== null && now >= forceTimeMs;
}

/**
 * Computes the int32 behind `c` (contract device.md §2.2): it changes whenever the linked resource may read differently, so that the poll's ETag
 * changes with it. The server itself never reads it back.
 */
export function contentHash(actionId: number, revision: number, forcedNow: boolean, windowOpen: boolean): number {
  let hash = Math.imul(actionId ^ 0x9e3779b9, 0x85ebca6b) ^ (revision * 4 + (forcedNow ? 2 : 0) + (windowOpen ? 1 : 0));
  hash = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35);
  return hash ^ (hash >>> 15);
}
