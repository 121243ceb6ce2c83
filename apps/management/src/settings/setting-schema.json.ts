import { type ConfigSchemaView, maxSettingLength, type SettingName, settingDescriptions } from "@harrier/contracts";
import { defaultSetTypeKey, type SettingKey, settingKeys } from "./keys.ts";

/** Returns what settings there are, in the order of the list of settings (contract console.md §3). */
export function settingSchemas(): ConfigSchemaView[] {
  const reference: ConfigSchemaView = {
    key: defaultSetTypeKey,
    type: "integer",
    text: "The type of distribution sets that name none",
    format: "reference",
    oneWay: false,
    signIn: false,
  };
  return [...Object.entries(settingKeys).map(([key, row]) => schemaOf(key as SettingName, row)), reference];
}

function schemaOf(key: SettingName, row: SettingKey): ConfigSchemaView {
  const { words, oneWay, ...description } = settingDescriptions[key];
  return {
    ...description,
    ...(words && { words: [...words] }),
    ...(row.type === "string" && { maxLength: maxSettingLength }),
    key,
    type: row.type,
    default: row.default,
    oneWay: oneWay === true,
    signIn: row.signIn === true,
  };
}
