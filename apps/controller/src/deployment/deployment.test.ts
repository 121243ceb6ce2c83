import { forceType } from "@harrier/contracts";
import { expect, test } from "vitest";
import { artifactView } from "../artifacts/artifact-view.ts";
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

test("an artifact has all four links, percent-encoded", () => {
  const device = {
    tenantId: 1,
    tenant: "DEFAULT",
    controllerId: "a",
    traceparent: null,
    base: "http://ota.example",
    tenantPath: "Default",
    controllerPath: "a",
  };
  const view = artifactView(device, 17, { filename: "rootfs ä.swu", size: 5, sha1: "1", md5: "2", sha256: "3" });
  const href = "http://ota.example/api/v1/Default/download/controller/a/softwaremodules/17/filename/rootfs%20%C3%A4.swu";
  expect(view).toEqual({
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
