import { describe, expect, test } from "vitest";
import { releaseSection } from "./changelog.mjs";
import { reproducible } from "./sbom.mjs";
import { isAfter, parseVersion } from "./version.mjs";

describe("versions", () => {
  test.each(["1.2", "v1.2.3", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3+build", "", "1.2.3-a..b"])("%s is none", (text) => {
    expect(parseVersion(text)).toBeUndefined();
  });

  test.each([
    ["1.2.4", "1.2.3"],
    ["1.10.0", "1.9.9"],
    ["2.0.0", "1.99.99"],
    ["1.0.0", "1.0.0-rc.1"],
    ["1.0.0-rc.2", "1.0.0-rc.1"],
    ["1.0.0-rc.10", "1.0.0-rc.9"],
    ["1.0.0-rc.1", "1.0.0-rc"],
    ["1.0.0-rc.a", "1.0.0-rc.1"],
  ])("%s comes after %s", (next, present) => {
    expect([isAfter(next, present), isAfter(present, next), isAfter(next, next)]).toEqual([true, false, false]);
  });
});

describe("the changelog", () => {
  test("what is unreleased becomes the section of the version, and an empty one stays", () => {
    const text =
      "# Changelog\n\nWords.\n\n## Unreleased\n\nNothing has been released yet; all is new.\n\n### Added\n\n- One.\n\n## 0.1.0 (2026-01-02)\n\n- Old.\n";
    const { changelog, section } = releaseSection(text, "0.2.0", "2026-02-03");
    expect(section).toBe("## 0.2.0 (2026-02-03)\n\n### Added\n\n- One.\n");
    expect(changelog).toBe(`# Changelog\n\nWords.\n\n## Unreleased\n\n${section}\n## 0.1.0 (2026-01-02)\n\n- Old.\n`);
    expect(() => releaseSection(changelog, "0.3.0", "2026-03-04")).toThrow("says nothing under Unreleased");
  });

  test("one without the section is refused", () => {
    expect(() => releaseSection("# Changelog\n", "0.2.0", "2026-02-03")).toThrow("no section");
  });
});

test("two bills of the same lock file are the same", () => {
  const bill = (serialNumber: string, parts: string[]) => ({
    serialNumber,
    metadata: { timestamp: serialNumber, component: { name: "gateway" } },
    components: parts.map((name) => ({ "bom-ref": name })),
    dependencies: parts.map((ref) => ({ ref, dependsOn: parts })),
  });
  const time = "2026-01-02T03:04:05.000Z";
  const [one, other] = [reproducible(bill("a", ["x", "y"]), time), reproducible(bill("b", ["y", "x"]), time)];
  expect(JSON.stringify(one)).toBe(JSON.stringify(other));
  expect(one).toMatchObject({
    metadata: { timestamp: time, component: { name: "gateway" } },
    components: [{ "bom-ref": "x" }, { "bom-ref": "y" }],
  });
  expect(one).not.toHaveProperty("serialNumber");
});
