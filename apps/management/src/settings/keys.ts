import { actionStatusNames, isDownloadUrl, parseArtifactLinks, parsePollingTime } from "@harrier/contracts";
import { parse } from "@harrier/fiql";

export type SettingValue = boolean | number | string;

/** One tenant-wide setting (contract management.md §8.1). */
export interface SettingKey {
  readonly type: "boolean" | "integer" | "string";
  readonly default: SettingValue;
  /** Says what is wrong with a value of the right type; undefined when nothing is. */
  readonly check?: (value: SettingValue) => string | undefined;
  /** How devices or their gateways sign in: a change makes every gateway forget what it verified for the tenant. */
  readonly signIn?: true;
  /** Why it can have no other value than its default: what it would turn on is not there. One that is stored does not count. */
  readonly fixed?: string;
  /** Stored sealed and as a digest; read back only with this permission. */
  readonly secret?: { readonly permission: string };
}

/** Limits of both polling times, as hawkBit ships them (contract management.md §8.1). */
const shortest = "00:00:30";
const longest = "23:59:59";

const duration = (value: SettingValue): string | undefined => {
  if (typeof value !== "string" || !/^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(value)) return "must be of the form HH:MM:SS";
  return value < shortest || value > longest ? `must be between ${shortest} and ${longest}` : undefined;
};

/**
 * Every interval is checked; queries for their form alone (contract device.md §3.4): an override that asks for what targets do not have
 * never applies.
 */
const pollingTime = (value: SettingValue): string | undefined => {
  for (const { query } of parsePollingTime(String(value)).overrides) {
    try {
      parse(query);
    } catch (error) {
      return `has an override with the query '${query}', which cannot be read: ${(error as Error).message.replace(/\.$/, "")}`;
    }
  }
  return undefined;
};

const atLeast =
  (minimum: number) =>
  (value: SettingValue): string | undefined =>
    Number(value) < minimum ? `must not be below ${minimum}` : undefined;

const percent = (value: SettingValue): string | undefined =>
  Number(value) < 0 || Number(value) > 100 ? "must be between 0 and 100" : undefined;

const statusList = (value: SettingValue): string | undefined => {
  const names = String(value).split(/[,;]/);
  const unknown = names.find((name) => !(actionStatusNames as readonly string[]).includes(name.trim().toUpperCase()));
  return unknown === undefined ? undefined : `holds '${unknown}', which is no status of an action`;
};

/** Empty: what the installation has (contract device.md §2.3). */
const artifactLinks = (value: SettingValue): string | undefined => {
  try {
    if (value !== "") parseArtifactLinks(String(value));
    return undefined;
  } catch (error) {
    return `cannot be read: ${(error as Error).message}`;
  }
};

const downloadHost = (value: SettingValue): string | undefined =>
  value === "" || isDownloadUrl(String(value)) ? undefined : "must be empty or a URL like https://files.example.com";

const flag = (initial: boolean, rest: Partial<SettingKey> = {}): SettingKey => ({ type: "boolean", default: initial, ...rest });
const text = (initial: string, rest: Partial<SettingKey> = {}): SettingKey => ({ type: "string", default: initial, ...rest });
const whole = (initial: number, check: NonNullable<SettingKey["check"]>): SettingKey => ({ type: "integer", default: initial, check });

/** Every setting but `default.ds.type`, which is a reference and always has a value (see settings.ts). */
export const settingKeys: Readonly<Record<string, SettingKey>> = {
  "authentication.header.enabled": flag(false, { signIn: true }),
  "authentication.header.authority": text("", { signIn: true }),
  "authentication.targettoken.enabled": flag(false, { signIn: true }),
  "authentication.gatewaytoken.enabled": flag(false, { signIn: true }),
  "authentication.gatewaytoken.key": text("", { signIn: true, secret: { permission: "READ_GATEWAY_SECURITY_TOKEN" } }),
  "anonymous.download.enabled": flag(false, { signIn: true }),
  pollingTime: text("00:05:00", { check: pollingTime }),
  pollingOverdueTime: text("00:05:00", { check: duration }),
  minPollingTime: text("00:00:30", { check: duration }),
  maintenanceWindowPollCount: whole(3, atLeast(1)),
  "rollout.approval.enabled": flag(false),
  "repository.actions.autoclose.enabled": flag(false),
  "multi.assignments.enabled": flag(false),
  "batch.assignments.enabled": flag(false, { fixed: "batches go to devices by messaging (AMQP), which this server does not have" }),
  "user.confirmation.flow.enabled": flag(false),
  "implicit.lock.enabled": flag(true),
  "artifact.links": text("", { check: artifactLinks }),
  "artifact.links.host": text("", { check: downloadHost }),
  "action.cleanup.enabled": flag(false),
  "action.cleanup.actionExpiry": whole(2_592_000_000, atLeast(0)),
  "action.cleanup.actionStatus": text("CANCELED,ERROR", { check: statusList }),
  // names of hawkBit 1.x for the same matters (contract management.md §8.1, last row)
  "action.cleanup.auto.expiry": whole(-1, atLeast(-1)),
  "action.cleanup.auto.status": text("CANCELED,ERROR", { check: statusList }),
  "action.cleanup.onQuotaHit.percent": whole(0, percent),
  "action.delete.allowed.statuses": text("CANCELED,ERROR,FINISHED", { check: statusList }),
  "auto.assignment.approval.enabled": flag(false),
};

/** The one key with a way of its own: the id of the set type that sets get when they name none. */
export const defaultSetTypeKey = "default.ds.type";

/** Seconds of a checked polling time, without its overrides and its spread. */
export function secondsOf(stored: string): number {
  return parsePollingTime(stored).interval.seconds;
}

/** The default of a text setting, for readers that get null where nothing is stored. */
export const defaultText = (key: "pollingTime" | "pollingOverdueTime"): string => String(settingKeys[key]?.default);
