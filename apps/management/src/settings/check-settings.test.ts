import { expect, test } from "vitest";
import { checkChange, checkValue } from "./check-settings.ts";
import { type SettingValue, settingKeys } from "./keys.ts";

test.each(Object.entries(settingKeys))("%s accepts its own default", (key, row) => {
  expect(checkValue(key, row.default)).toBe(row.default);
});

// The rows are those of contract management.md §8.1, §8.2 and cases 118, 119, 125.
test.each<[string, unknown, string]>([
  ["foo", true, "configKeyInvalid"],
  ["__proto__", true, "configKeyInvalid"],
  ["toString", true, "configKeyInvalid"],
  ["pollingTime", null, "bodyNotReadable"],
  ["pollingTime", "00:00:29", "configValueInvalid"],
  ["pollingTime", "24:00:00", "configValueInvalid"],
  ["pollingTime", "5m", "configValueInvalid"],
  ["pollingTime", 300, "configValueInvalid"],
  ["pollingTime", "00:05:00~100%", "configValueInvalid"],
  ["pollingTime", "00:05:00,", "configValueInvalid"],
  ["pollingTime", "00:05:00, name==a", "configValueInvalid"],
  ["pollingTime", "00:05:00, name==a -> 00:00:29", "configValueInvalid"],
  ["pollingTime", "00:05:00, name==a -> 00:01:00, name==b -> 24:00:00", "configValueInvalid"],
  ["pollingTime", "00:05:00, name==(a -> 00:01:00", "configValueInvalid"],
  ["pollingTime", "00:05:00, name -> 00:01:00", "configValueInvalid"],
  ["pollingOverdueTime", "00:00:60", "configValueInvalid"],
  ["pollingOverdueTime", "00:05:00~10%", "configValueInvalid"],
  ["minPollingTime", "PT1M", "configValueInvalid"],
  ["authentication.targettoken.enabled", "true", "configValueInvalid"],
  ["authentication.targettoken.enabled", 1, "configValueInvalid"],
  ["authentication.gatewaytoken.key", true, "configValueInvalid"],
  ["authentication.gatewaytoken.key", "x".repeat(513), "configValueInvalid"],
  ["maintenanceWindowPollCount", 1.5, "configValueInvalid"],
  ["maintenanceWindowPollCount", "3", "configValueInvalid"],
  ["action.cleanup.actionExpiry", -1, "configValueInvalid"],
  ["action.cleanup.actionStatus", "CANCELED,DONE", "configValueInvalid"],
  ["action.cleanup.onQuotaHit.percent", 101, "configValueInvalid"],
  ["artifact.links", "seeds", "configValueInvalid"],
  ["artifact.links", "download=https://cdn.example.com/{file}", "configValueInvalid"],
  ["artifact.links.host", "cdn.example.com", "configValueInvalid"],
  ["evidence.default", "sw_version", "configValueInvalid"],
  ["evidence.default", '[{"attribute":"v"}]', "configValueInvalid"],
  ["evidence.default", JSON.stringify([{ attribute: "v", equals: `\${set.id}` }]), "configValueInvalid"],
  ["evidence.default", JSON.stringify(Array.from({ length: 9 }, () => ({ attribute: "v", equals: "1" }))), "configValueInvalid"],
  ["safety.default", 1, "configValueInvalid"],
])("%s = %j is refused with %s", (key, value, code) => {
  expect(() => checkValue(key, value)).toThrow(expect.objectContaining({ code }));
});

test.each<[string, SettingValue]>([
  ["pollingTime", "00:00:30"],
  ["pollingTime", "23:59:59"],
  ["pollingTime", "01:00:00~10%"],
  ["pollingTime", "PT45M"],
  ["pollingTime", "00:02:00, controllerid == 4711 -> 00:01:00, group == 'Europe' -> 00:05:05"],
  ["pollingTime", "01:00:00~10%, status =in= (in_sync,pending) -> 00:05:00"],
  ["action.cleanup.actionExpiry", 1000],
  ["action.cleanup.actionStatus", "CANCELED; ERROR"],
  ["action.cleanup.auto.expiry", -1],
  ["authentication.header.authority", ""],
  ["artifact.links", "hawkbit"],
  ["artifact.links", "download=https://cdn.example.com/{tenant}/{filename} download-http=hawkbit"],
  ["artifact.links", ""],
  ["artifact.links.host", "https://files.example.com"],
  ["evidence.default", JSON.stringify([{ attribute: "v", equals: `\${set.version}`, match: "prefix" }])],
  ["evidence.default", ""],
  ["safety.default", "careful"],
])("%s = %j is accepted", (key, value) => {
  expect(checkValue(key, value)).toBe(value);
});

const withValues = (values: Record<string, SettingValue>) => (key: string) => values[key] ?? settingKeys[key]?.default ?? "";

test.each<[string, Record<string, SettingValue>, Record<string, SettingValue>, boolean]>([
  ["multi on", {}, { "multi.assignments.enabled": true }, true],
  ["multi off again", { "multi.assignments.enabled": true }, {}, false],
  ["batch on", {}, { "batch.assignments.enabled": true }, true],
  ["batch off again", { "batch.assignments.enabled": true }, {}, true],
  ["multi beside batch", {}, { "multi.assignments.enabled": true, "batch.assignments.enabled": true }, false],
  [
    "batch while multi is on",
    { "multi.assignments.enabled": true },
    { "multi.assignments.enabled": true, "batch.assignments.enabled": true },
    false,
  ],
  [
    "multi while autoclose is on",
    { "repository.actions.autoclose.enabled": true },
    { "multi.assignments.enabled": true, "repository.actions.autoclose.enabled": true },
    false,
  ],
  ["multi instead of autoclose", { "repository.actions.autoclose.enabled": true }, { "multi.assignments.enabled": true }, true],
  [
    "something else where both are on from before",
    { "multi.assignments.enabled": true, "repository.actions.autoclose.enabled": true },
    { "multi.assignments.enabled": true, "repository.actions.autoclose.enabled": true, pollingTime: "00:01:00" },
    true,
  ],
  [
    "autoclose off where both are on from before",
    { "multi.assignments.enabled": true, "repository.actions.autoclose.enabled": true },
    { "multi.assignments.enabled": true },
    true,
  ],
  [
    "autoclose while multi is on",
    { "multi.assignments.enabled": true },
    { "multi.assignments.enabled": true, "repository.actions.autoclose.enabled": true },
    false,
  ],
  ["autoclose", {}, { "repository.actions.autoclose.enabled": true }, true],
])("%s", (_, before, after, allowed) => {
  const change = () => checkChange(withValues(before), withValues(after));
  if (allowed) expect(change).not.toThrow();
  else expect(change).toThrow(expect.objectContaining({ code: "configChangeNotAllowed" }));
});

test("the error of an invalid polling time says what is wrong with it", () => {
  expect(() => checkValue("pollingTime", "00:05:00, name==a -> 10")).toThrow("'10' is not between 00:00:30 and 23:59:59");
  expect(() => checkValue("pollingTime", "00:05:00, name -> 00:01:00")).toThrow(
    "the query 'name', which cannot be read: Query syntax error",
  );
});
