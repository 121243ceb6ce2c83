import {
  actionStatusNames,
  isDownloadUrl,
  parseArtifactLinks,
  parsePollingTime,
  type SettingName,
  settingDefaults,
} from "@harrier/contracts";
import { parse } from "@harrier/fiql";

export type SettingValue = boolean | number | string;

/** This is one setting of a tenant (contract management.md §8.1). */
export interface SettingKey {
  readonly type: "boolean" | "integer" | "string";
  readonly default: SettingValue;
  /** Says what is wrong with a value of the right type; undefined means that it is valid. */
  readonly check?: (value: SettingValue) => string | undefined;
  /** The setting concerns how devices or their gateways sign in: a change makes every gateway forget what it verified for the tenant. */
  readonly signIn?: true;
  /** This says why only the default is allowed: the feature that the setting turns on does not exist. A stored value does not count. */
  readonly fixed?: string;
  /** The value is stored sealed and as a digest, and is shown only to holders of this permission. */
  readonly secret?: { readonly permission: string };
}

/** These are the limits of both polling times, as hawkBit ships them (contract management.md §8.1). */
const min = "00:00:30";
const max = "23:59:59";

const duration = (value: SettingValue): string | undefined => {
  if (typeof value !== "string" || !/^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(value)) return "must be of the form HH:MM:SS";
  return value < min || value > max ? `must be between ${min} and ${max}` : undefined;
};

/**
 * Checks every interval, but only the syntax of queries (contract device.md §3.4): an override whose query names fields that targets do not
 * have never applies.
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

/** An empty value stands for the patterns of the installation (contract device.md §2.3). */
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

const signIn = { signIn: true } as const;
const statuses = { check: statusList };
const noBatches = "batches go to devices by messaging (AMQP), which this server does not have";

/** These are the members of a setting besides its default. */
const rules: { readonly [K in SettingName]?: Omit<SettingKey, "type" | "default"> } = {
  "authentication.header.enabled": signIn,
  "authentication.header.authority": signIn,
  "authentication.targettoken.enabled": signIn,
  "authentication.gatewaytoken.enabled": signIn,
  "authentication.gatewaytoken.key": { ...signIn, secret: { permission: "READ_GATEWAY_SECURITY_TOKEN" } },
  "anonymous.download.enabled": signIn,
  pollingTime: { check: pollingTime },
  pollingOverdueTime: { check: duration },
  minPollingTime: { check: duration },
  maintenanceWindowPollCount: { check: atLeast(1) },
  "batch.assignments.enabled": { fixed: noBatches },
  "artifact.links": { check: artifactLinks },
  "artifact.links.host": { check: downloadHost },
  "action.cleanup.actionExpiry": { check: atLeast(0) },
  "action.cleanup.actionStatus": statuses,
  "action.cleanup.auto.expiry": { check: atLeast(-1) },
  "action.cleanup.auto.status": statuses,
  "action.cleanup.onQuotaHit.percent": { check: percent },
  "action.delete.allowed.statuses": statuses,
};

const types = { boolean: "boolean", number: "integer", string: "string" } as const;

/** These are all settings but `default.ds.type`, which is a reference and always has a value (see settings.ts). */
export const settingKeys: Readonly<Record<string, SettingKey>> = Object.fromEntries(
  Object.entries(settingDefaults).map(([name, initial]) => [
    name,
    { type: types[typeof initial as keyof typeof types], default: initial, ...rules[name as SettingName] },
  ]),
);

/** This is the one key that is handled separately: the id of the set type that sets get when they name none. */
export const defaultSetTypeKey = "default.ds.type";
