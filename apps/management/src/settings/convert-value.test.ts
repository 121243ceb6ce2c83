import { expect, test } from "vitest";
import { convertValue } from "./convert-value.ts";

const flag = "rollout.approval.enabled";
const whole = "maintenanceWindowPollCount";
const text = "authentication.header.authority";

test.each([
  [flag, "false", false],
  [flag, " TRUE ", true],
  [flag, "on", true],
  [flag, "0", false],
  [flag, "maybe", "maybe"],
  [flag, 1, 1],
  [whole, "5", 5],
  [whole, "-1", -1],
  [whole, "1.5", "1.5"],
  [whole, "", ""],
  [whole, "9".repeat(40), "9".repeat(40)],
  [whole, true, true],
  [text, 5, "5"],
  [text, false, "false"],
  [text, [], []],
  [text, null, null],
  ["no such key", "false", "false"],
  ["toString", "false", "false"],
])("%s converts the value %j to %j", (key, value, expected) => {
  expect(convertValue(key, value)).toEqual(expected);
});
