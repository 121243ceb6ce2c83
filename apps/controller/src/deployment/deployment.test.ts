import { forceType } from "@harrier/contracts";
import { expect, test } from "vitest";
import { artifactLinks, createArtifactLinks } from "../artifacts/artifact-links.ts";
import { artifactView } from "../artifacts/artifact-view.ts";
import { withDefaults } from "../settings/defaults.ts";
import { handlingOf } from "./deployment.ts";

test("download and update by type (contract device.md §4.1)", () => {
  const at = (type: number, forceTimeMs: number | null = null) =>
    Object.values(handlingOf({ forceType: type, forceTimeMs, maintenance: null }, 1_000));
  expect(at(forceType.forced)).toEqual(["forced", "forced"]);
  expect(at(forceType.soft)).toEqual(["attempt", "attempt"]);
  expect(at(forceType.downloadonly)).toEqual(["forced", "skip"]);
  expect(at(forceType.timeforced, 1_001)).toEqual(["attempt", "attempt"]);
  expect(at(forceType.timeforced, 1_000)).toEqual(["forced", "forced"]);
});

test("with a maintenance window the update waits for it (contract device.md §3.5)", () => {
  const once = { schedule: "0 0 2 1 1 ? 2027", duration: "01:00", timezone: "+00:00" };
  const at = (type: number, now: string) =>
    Object.values(handlingOf({ forceType: type, forceTimeMs: 0, maintenance: once }, Date.parse(`2027-01-01T${now}:00Z`)));
  expect(at(forceType.forced, "01:59")).toEqual(["forced", "skip", "unavailable"]);
  expect(at(forceType.forced, "02:30")).toEqual(["forced", "forced", "available"]);
  expect(at(forceType.forced, "03:01")).toEqual(["forced", "skip", "unavailable"]);
  expect(at(forceType.soft, "01:59")).toEqual(["attempt", "skip", "unavailable"]);
  expect(at(forceType.soft, "02:30")).toEqual(["attempt", "attempt", "available"]);
  expect(at(forceType.downloadonly, "02:30")).toEqual(["forced", "skip", "available"]);
});

const device = {
  tenantId: 1,
  tenant: "DEFAULT",
  controllerId: "a b",
  traceparent: null,
  base: "http://ota.example",
  tenantPath: "Default",
  controllerPath: "a%20b",
};
const facts = { filename: "rootfs ä.swu", size: 5, sha1: "1", md5: "2", sha256: "3", createdAt: 4 };
const view = (text: string, host?: string) => artifactView({ device, moduleId: 17, links: artifactLinks(text, host) }, facts);
const hrefs = (text: string, host?: string) => Object.values(view(text, host)._links ?? {}).map((link) => link?.href);

test("an artifact has all four links, percent-encoded", () => {
  const href = "http://ota.example/api/v1/Default/download/controller/a%20b/softwaremodules/17/filename/rootfs%20%C3%A4.swu";
  expect(view("classic")).toEqual({
    filename: "rootfs ä.swu",
    hashes: { sha1: "1", md5: "2", sha256: "3" },
    size: 5,
    _links: {
      download: { href },
      md5sum: { href: `${href}.MD5SUM` },
      "download-http": { href },
      "md5sum-http": { href: `${href}.MD5SUM` },
    },
  });
});

test("links have the configured pattern and host (contract device.md §2.3)", () => {
  const path = "/Default/controller/v1/a%20b/softwaremodules/17/artifacts/rootfs%20%C3%A4.swu";
  const [inShape, atHost] = [`http://ota.example${path}`, `https://cdn.example:8443/x${path}`];
  expect(hrefs("hawkbit")).toEqual([inShape, `${inShape}.MD5SUM`, inShape, `${inShape}.MD5SUM`]);
  expect(hrefs("hawkbit", "https://cdn.example:8443/x")).toEqual([atHost, `${atHost}.MD5SUM`, atHost, `${atHost}.MD5SUM`]);
  const [classic] = hrefs("classic");
  expect(hrefs("download-http=hawkbit")).toEqual([classic, `${classic}.MD5SUM`, inShape, `${inShape}.MD5SUM`]);
  expect(
    hrefs("download=https://h/{tenant}/{controllerId}/{moduleId}/{sha1}?n={filename} download-http={download_url}/{sha1}", "https://d"),
  ).toEqual([
    "https://h/Default/a%20b/17/1?n=rootfs%20%C3%A4.swu",
    "https://h/Default/a%20b/17/1?n=rootfs%20%C3%A4.swu.MD5SUM",
    "https://d/1",
    "https://d/1.MD5SUM",
  ]);
});

test("a tenant's own setting takes precedence over the installation's, each part for itself", () => {
  const stored: Record<number, object> = {
    2: { "artifact.links": "classic" },
    3: { "artifact.links.host": "https://files.three" },
    4: { "artifact.links": "cannot be read" },
  };
  const get = (tenantId: number) => withDefaults(Object.entries(stored[tenantId] ?? {}).map(([key, value]) => ({ key, value })));
  const links = createArtifactLinks({ get }, { links: "hawkbit", host: "https://files.all" });
  const of = (tenantId: number) => artifactView({ device, moduleId: 17, links: links.of(tenantId) }, facts)._links?.download?.href ?? "";
  expect(of(1)).toContain("https://files.all/Default/controller/v1/");
  expect(of(2)).toContain("https://files.all/api/v1/Default/download/");
  expect(of(3)).toContain("https://files.three/Default/controller/v1/");
  expect(of(4)).toContain("https://files.all/api/v1/Default/download/");
  expect(links.of(3)).toBe(links.of(3));
});
