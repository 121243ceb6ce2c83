import { quotaKeys, settingDefaults } from "@harrier/contracts";
import { expect, test } from "vitest";
import { quotaTitles, settingTitles } from "../text/en.ts";

test("every setting and every quota has a title of its own", () => {
  for (const [titles, keys] of [
    [settingTitles, [...Object.keys(settingDefaults), "default.ds.type"]],
    [quotaTitles, quotaKeys],
  ] as const) {
    expect(Object.keys(titles).toSorted()).toEqual([...keys].toSorted());
    expect(new Set(Object.values(titles)).size).toBe(keys.length);
  }
});
