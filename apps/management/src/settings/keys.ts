import {
  isDownloadUrl,
  parseArtifactLinks,
  parsePollingTime,
  readEvidenceSetting,
  type SettingDescription,
  type SettingName,
  settingDefaults,
  settingDescriptions,
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

const isDuration = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/;

/** Checks a value against the limits that its description shows; durations of this form are in the order of their texts. */
const within =
  ({ minimum, maximum }: SettingDescription) =>
  (value: SettingValue): string | undefined => {
    if (typeof minimum === "string" && !isDuration.test(String(value))) return "must be of the form HH:MM:SS";
    if (minimum !== undefined && maximum !== undefined) {
      return value < minimum || value > maximum ? `must be between ${minimum} and ${maximum}` : undefined;
    }
    return minimum !== undefined && value < minimum ? `must not be below ${minimum}` : undefined;
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

const wordsOf =
  ({ words = [] }: SettingDescription) =>
  (value: SettingValue): string | undefined => {
    const unknown = String(value)
      .split(/[,;]/)
      .find((name) => !words.includes(name.trim().toUpperCase()));
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

const evidence = (value: SettingValue): string | undefined => {
  try {
    readEvidenceSetting(String(value));
    return undefined;
  } catch {
    return "must be empty or a JSON list of at most 8 rules {attribute, equals, match}, as target types have them";
  }
};

/** These settings decide how devices or their gateways sign in. */
const ofSignIn: ReadonlySet<string> = new Set<SettingName>([
  "authentication.header.enabled",
  "authentication.header.authority",
  "authentication.targettoken.enabled",
  "authentication.gatewaytoken.enabled",
  "authentication.gatewaytoken.key",
  "anonymous.download.enabled",
]);

/** Returns the check of a setting, as its description says what a value must be. */
function checkOf(row: SettingDescription): SettingKey["check"] {
  if (row.format === "pollingTime") return pollingTime;
  if (row.format === "artifactLinks") return artifactLinks;
  if (row.format === "url") return downloadHost;
  if (row.format === "evidence") return evidence;
  if (row.format === "statusList") return wordsOf(row);
  return row.minimum === undefined ? undefined : within(row);
}

/** Returns the members of a setting besides its type and default. */
function rulesOf(name: SettingName): Omit<SettingKey, "type" | "default"> {
  const row = settingDescriptions[name];
  const check = checkOf(row);
  return {
    ...(check && { check }),
    ...(ofSignIn.has(name) && { signIn: true }),
    ...(row.fixed !== undefined && { fixed: row.fixed }),
    ...(row.readPermission !== undefined && { secret: { permission: row.readPermission } }),
  };
}

const types = { boolean: "boolean", number: "integer", string: "string" } as const;

/** These are all settings but `default.ds.type`, which is a reference and always has a value (see settings.ts). */
export const settingKeys: Readonly<Record<string, SettingKey>> = Object.fromEntries(
  Object.entries(settingDefaults).map(([name, initial]) => [
    name,
    { type: types[typeof initial as keyof typeof types], default: initial, ...rulesOf(name as SettingName) },
  ]),
);

/** This is the one key that is handled separately: the id of the set type that sets get when they name none. */
export const defaultSetTypeKey = "default.ds.type";
